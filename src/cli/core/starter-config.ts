/** What `troupe init` writes. It passes `troupe check` as it is, and runs where Ollama has the model it names. */
export const STARTER_CONFIG = `# troupe.toml: who works here, with which model, under which rules.
# \`troupe check\` validates it; an unknown key is an error.

# A model. Ollama on this machine: \`ollama pull qwen3\` fetches this one.
[providers.models.openai-compatible.ollama]
base_url = "http://localhost:11434/v1"
model = "qwen3"

# Or a hosted one: take the # away, and name it in an agent's model_provider ("openai.main", "anthropic.main").
# The key itself stays in the environment; only the variable's name stands here.
# [providers.models.openai.main]
# api_key_env = "OPENAI_API_KEY"
# model = "gpt-5-mini"
# [providers.models.anthropic.main]
# api_key_env = "ANTHROPIC_API_KEY"
# model = "claude-sonnet-4-5"

# What an agent may do. Without delegation_policy nobody delegates.
[risk_profiles.reader]
autonomy = "read_only"       # read_only | supervised | full
delegation_policy = { mode = "allow" }

# How its runs go.
[runtime_profiles.short]
max_turns = 20
max_delegation_width = 4     # children at work at once

# troupe run lead "What is in this folder?"
[agents.lead]
name = "Lead"
purpose = "Splits a task, hands the parts to others and puts their answers together."
model_provider = "openai-compatible.ollama"
risk_profile = "reader"
runtime_profile = "short"
system_prompt = """
You lead a small team. Call the tool agents first to see who is there, delegate what can be done apart,
several calls in one answer where the parts do not depend on each other, and answer in your own words.
"""

[agents.reader]
name = "Reader"
purpose = "Reads files of the workspace and reports what it finds, with paths and lines."
model_provider = "openai-compatible.ollama"
risk_profile = "reader"
runtime_profile = "short"
system_prompt = "You read files and report what you find. Name paths and lines. Never guess."
`;
