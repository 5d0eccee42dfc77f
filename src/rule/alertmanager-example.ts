import { stringify } from "yaml";

/**
 * Routes and inhibition for our alerts. An inhibition matches where the `equal` labels are equal, and labels that both
 * sides lack count as equal: so it is restricted to alerts that carry a service.
 */
export function alertmanagerExample(): string {
  const config = {
    route: {
      receiver: "tickets",
      group_by: ["alertgroup", "service_name", "model", "budget"],
      group_wait: "30s",
      group_interval: "5m",
      repeat_interval: "4h",
      routes: [
        { matchers: ['severity="info"'], receiver: "nobody" },
        { matchers: ['severity="critical"'], receiver: "pager", repeat_interval: "1h" },
      ],
    },
    inhibit_rules: [
      {
        // the joint alert says it already; the warning about the budget stays: only it names the budget
        source_matchers: ['alertname="LLMSlaCritical"', 'service_name!=""'],
        target_matchers: ['alertname="LLMLatencyP99Drift"'],
        equal: ["alertgroup", "service_name", "model"],
      },
      {
        source_matchers: ['alertname="LLMTokenBudgetExhausted"', 'budget!=""'],
        target_matchers: ['alertname=~"LLMTokenBudgetNearlySpent|LLMTokenBudgetBurnFast"'],
        equal: ["budget", "tenant"],
      },
      {
        source_matchers: ['alertname="LLMErrorBudgetBurnFast"', 'service_name!=""'],
        target_matchers: ['alertname=~"LLMErrorBudgetBurnSlow|LLMFailureRateHigh"'],
        equal: ["service_name", "model"],
      },
      {
        // without its eyes on a node, tokentail's other complaints about the node are noise
        source_matchers: ['alertname="TokentailDown"', 'instance!=""'],
        target_matchers: ['alertgroup="tokentail"', 'alertname!="TokentailDown"'],
        equal: ["job", "instance"],
      },
    ],
    receivers: [
      { name: "nobody" },
      { name: "tickets", webhook_configs: [{ url: "http://127.0.0.1:8080/tickets" }] },
      { name: "pager", webhook_configs: [{ url: "http://127.0.0.1:8080/pager" }] },
    ],
  };
  return `# Alertmanager: routes and inhibition for tokentail's alerts. Put your receivers in place of the webhooks.
# The labels are the same for alerts of rules and for those that tokentail pushes itself; use one of the two ways for an alert.
${stringify(config, { lineWidth: 0 })}`;
}
