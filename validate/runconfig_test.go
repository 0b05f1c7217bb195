package validate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/validate"
)

// full is a run_config as users of the original have it, with every required field of theirs.
const full = `{"schema_version":"1.0.0","product_slug":"3d-python","product_name":"Aspose.3D FOSS for Python","family":"3d",
"github_repo_url":"https://github.com/aspose-3d-foss/aspose-3d-foss-python","github_ref":"0123456789abcdef0123456789abcdef01234567",
"required_sections":["products","docs","reference","kb","blog"],"target_platform":"python","locale":"en","locales":["en"],
"site_layout":{"content_root":"content","subdomain_roots":{"products":"content/products.x.org","docs":"content/docs.x.org","kb":"content/kb.x.org","reference":"content/reference.x.org","blog":"content/blog.x.org"},
 "localization":{"mode_by_section":{"products":"dir","docs":"dir","kb":"dir","reference":"dir","blog":"filename"}}},
"allowed_paths":["content/docs.x.org/3d/en/python/**"],
"llm":{"api_base_url":"http://localhost:8080/v1","model":"m","decoding":{"temperature":0},"api_key_env":"LLM_KEY"},
"mcp":{"enabled":true,"listen_host":"127.0.0.1","listen_port":8787},"telemetry":{"endpoint_url":"http://localhost:8765","project":"p"},
"commit_service":{"endpoint_url":"http://localhost:4320","github_token_env":"GH_TOKEN","commit_message_template":"docs: {product_slug}","commit_body_template":"{run_id}"},
"templates_version":"templates.v1","ruleset_version":"ruleset.v1","allow_inference":false,"max_fix_attempts":3,
"budgets":{"max_runtime_s":3600,"max_llm_calls":500,"max_llm_tokens":1000000,"max_file_writes":100,"max_patch_attempts":5,"max_lines_per_file":500,"max_files_changed":100}}`

func TestRunConfigs(t *testing.T) {
	var lazy validate.Lazy
	schema, err := lazy.Artifact("run_config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const minimal = `{"github_repo_url":"../x"}`
	with := func(member string) string { return strings.Replace(minimal, "}", ","+member+"}", 1) }
	for raw, at := range map[string]string{
		minimal: "ok", full: "ok",
		with(`"target_platform":"other"`):                "ok",
		with(`"autopilot":{"fix":true,"open_pr":true}`):  "ok",
		with(`"github_ref":"v1.2.0"`):                    "ok",
		with(`"publisher":"local"`):                      "ok",
		`{}`:                                             "",
		`{"github_repo_url":""}`:                         "/github_repo_url",
		with(`"unknown":1`):                              "",
		with(`"autopilot":{"fix":1}`):                    "/autopilot/fix",
		with(`"github_ref":"--upload-pack=x"`):           "/github_ref",
		with(`"publisher":"carrier-pigeon"`):             "/publisher",
		with(`"required_sections":[]`):                   "/required_sections",
		with(`"required_sections":["docs","docs"]`):      "/required_sections",
		with(`"max_fix_attempts":-1`):                    "/max_fix_attempts",
		with(`"budgets":{"max_files_changed":0}`):        "/budgets/max_files_changed",
		with(`"locales":["en","fr"]`):                    "/locales",
		with(`"llm":{"model":"m"}`):                      "/llm",
		with(`"product_slug":"../x"`):                    "/product_slug",
		with(`"target_platform":"cobol"`):                "/target_platform",
		with(`"site_layout":{"content_root":"content"}`): "/site_layout",
		with(`"taskcard_id":"TC-1"`):                     "/taskcard_id",
	} {
		problems, err := schema.Check(json.RawMessage(raw))
		switch {
		case err != nil:
			t.Errorf("%.60s: %v", raw, err)
		case at == "ok" && len(problems) > 0:
			t.Errorf("%.60s: %v", raw, problems)
		case at != "ok" && (len(problems) == 0 || problems[0].Path != at):
			t.Errorf("%.60s: %v, want a problem at %q", raw, problems, at)
		}
	}
}
