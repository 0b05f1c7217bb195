package taskcards

import (
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// The names of the checks.
const (
	checkSize        = "size"
	checkEncoding    = "encoding"
	checkFront       = "front_matter"
	checkRequired    = "required_key"
	checkID          = "id"
	checkFileName    = "file_name"
	checkUnique      = "id_unique"
	checkTitle       = "title"
	checkStatus      = "status"
	checkOwner       = "owner"
	checkUpdated     = "updated"
	checkDepends     = "depends_on"
	checkAllowed     = "allowed_paths"
	checkEvidence    = "evidence_required"
	checkSpecRef     = "spec_ref"
	checkRuleset     = "ruleset_version"
	checkTemplates   = "templates_version"
	checkShared      = "shared_library"
	checkBroad       = "broad_path"
	checkProducts    = "products_path"
	checkBodyPaths   = "body_allowed_paths"
	checkSection     = "section"
	checkScope       = "scope"
	checkFailures    = "failure_modes"
	checkReview      = "review_checklist"
	checkE2ECommand  = "e2e_command"
	checkE2EArtifact = "e2e_artifact"
	checkE2EVague    = "e2e_vague"
	checkIntegration = "integration_boundary"
	minFailureModes  = 3
	minReviewItems   = 6
)

// checks are run in this order; each records what is wrong.
var checks = []func(*card){
	(*card).checkFront,
	(*card).checkRequired,
	(*card).checkID,
	(*card).checkStrings,
	(*card).checkUpdated,
	(*card).checkLists,
	(*card).checkPaths,
	(*card).checkBodyPaths,
	(*card).checkSections,
	(*card).checkScope,
	(*card).checkCounts,
	(*card).checkE2E,
	(*card).checkIntegration,
}

// requiredKeys stand in every card's front matter.
var requiredKeys = []string{
	"id", "title", "status", "owner", "updated", "depends_on", "allowed_paths", "evidence_required", "spec_ref",
	"ruleset_version", "templates_version",
}

var statuses = []string{"Draft", "Ready", "In-Progress", "Blocked", "Done"}

var (
	commit    = lazyregexp.New(`^[0-9a-fA-F]{7,40}$`)
	timestamp = lazyregexp.New(`^\d{4}-\d{1,2}-\d{1,2}(?:[Tt ].*)?$`)
)

func (c *card) checkFront() {
	if c.front.why != "" {
		c.fail(checkFront, c.front.line, "no valid YAML front matter: %s", c.front.why)
	}
}

func (c *card) checkRequired() {
	for _, key := range requiredKeys {
		if _, ok := c.front.field(key); !ok && c.front.why == "" {
			c.fail(checkRequired, 1, "the front matter lacks %s", key)
		}
	}
}

func (c *card) checkID() {
	id, ok := c.front.field("id")
	if !ok {
		return
	}
	if id.kind != kindString || !cardID.MatchString(id.text) {
		c.fail(checkID, id.line, "id is not TC- and up to nine digits")
		return
	}
	if !namedAfter(c.name, id.text) {
		c.fail(checkFileName, id.line, "id is %s, and the file's name is not %s….md", id.text, id.text)
	}
	for _, other := range c.others {
		c.fail(checkUnique, id.line, "%.200q has the same id", other)
	}
}

// checkStrings checks the keys that are one string.
func (c *card) checkStrings() {
	anything := func(string) bool { return true }
	for _, rule := range []struct {
		key, check, want string
		holds            func(string) bool
	}{
		{"title", checkTitle, "a string that says something", anything},
		{"owner", checkOwner, "a string that says something", anything},
		{"status", checkStatus, "one of " + strings.Join(statuses, ", "), func(s string) bool { return slices.Contains(statuses, s) }},
		{"spec_ref", checkSpecRef, "a commit: a string of 7 to 40 hexadecimal digits", commit.MatchString},
		{"ruleset_version", checkRuleset, "a string that says something (a number needs quotes)", anything},
		{"templates_version", checkTemplates, "a string that says something (a number needs quotes)", anything},
	} {
		v, ok := c.front.field(rule.key)
		if ok && (v.kind != kindString || strings.TrimSpace(v.text) == "" || !rule.holds(v.text)) {
			c.fail(rule.check, v.line, "%s is not %s", rule.key, rule.want)
		}
	}
}

func (c *card) checkUpdated() {
	v, ok := c.front.field("updated")
	if !ok {
		return
	}
	if v.kind == kindDate {
		c.fail(checkUpdated, v.line, "updated is a YAML date and not a string: put it in quotes")
		return
	}
	_, err := time.Parse(time.DateOnly, v.text)
	if v.kind != kindString || err != nil {
		c.fail(checkUpdated, v.line, "updated is not a day written YYYY-MM-DD, in quotes")
	}
}

// checkLists checks the keys that are lists of strings.
func (c *card) checkLists() {
	if v, ok := c.front.field("depends_on"); ok {
		if v.kind != kindList {
			c.fail(checkDepends, v.line, "depends_on is not a list")
		}
		for _, item := range v.items {
			if item.kind != kindString || !cardID.MatchString(item.text) {
				c.fail(checkDepends, item.line, "depends_on has an entry that is no id such as TC-100")
			}
		}
	}
	for _, rule := range []struct{ key, check string }{{"allowed_paths", checkAllowed}, {"evidence_required", checkEvidence}} {
		v, ok := c.front.field(rule.key)
		if !ok {
			continue
		}
		if v.kind != kindList || len(v.items) == 0 {
			c.fail(rule.check, v.line, "%s is not a list with at least one entry", rule.key)
		}
		for _, item := range v.items {
			if item.kind != kindString || strings.TrimSpace(item.text) == "" {
				c.fail(rule.check, item.line, "%s has an entry that is no string that says something", rule.key)
			}
		}
	}
}
