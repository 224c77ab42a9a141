package web

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// untold are what control and alarms do that an entry of an operation tells already, or nobody needs later.
var untold = strings.Fields(`control.command-started control.lease-renewed control.approval-asked control.window-announced control.task-made
	control.override-started control.renew alarm.acknowledged alarm.shelved alarm.unshelved`)

// Operations, what the node does by itself, and control and alarms that change by themselves: all that the audit log names.
func TestThePageHasWordsForTheActionsOfTheAuditLog(t *testing.T) {
	page := read(t, "src/audit/actions.ts")
	dotted := regexp.MustCompile(`"((?:[a-z]+\.)+[a-z_-]+)"`)
	for _, source := range []struct {
		file, prefix, kept string
		action             *regexp.Regexp
	}{
		{"../docs/reference/operations.md", "", "| `", regexp.MustCompile("`([a-z._-]+)` \\|\n$")},
		{"../timeline/sentence.go", "", "", dotted},
		{"../agent/operate.go", "", "", regexp.MustCompile(`"(agent\.(?:st|re|en|dis|roll)[a-z]+)"`)},
		{"../control/decision.go", "control.", "EventKind = ", regexp.MustCompile(`"([a-z-]+)"`)},
		{"../control/dispatch/request.go", "control.", "action", regexp.MustCompile(`action(?::| :=| =) "([a-z-]+)"`)},
		{"../alarm/state.go", "alarm.", "Event = ", regexp.MustCompile(`"([a-z_]+)"`)},
		{"../audit/audit.go", "", " = ", regexp.MustCompile(`"(audit\.(?:seg|drop)[a-z]+)"`)},
		{"../audit/archive.go", "", " = ", regexp.MustCompile(`"(audit\.[a-z.]+)"`)},
		{"../audit/report/neighbour.go", "", "Action", regexp.MustCompile(`"(node\.[a-z]+)"`)},
	} {
		found := 0
		for line := range strings.Lines(read(t, source.file)) {
			if !strings.Contains(line, source.kept) {
				continue
			}
			for _, action := range source.action.FindAllStringSubmatch(line, -1) {
				found++
				name := source.prefix + action[1]
				if !slices.Contains(untold, name) && !strings.Contains(page, "\n  \""+name+"\": ") && !strings.Contains(page, "\n  "+name+": ") {
					t.Errorf("%s: the action %s has no words: add some to web/src/audit/actions.ts", source.file, name)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no actions found", source.file)
		}
	}
}

// The list of nodes says what each one is.
func TestThePageHasWordsForTheRolesOfNodes(t *testing.T) {
	page := read(t, "src/language/codes.ts")
	roles := regexp.MustCompile(`\{"([a-z]+)", `).FindAllStringSubmatch(read(t, "../health/ownstatus/ownstatus.go"), -1)
	if len(roles) == 0 {
		t.Fatal("no roles found")
	}
	for _, role := range roles {
		if !strings.Contains(page, "\n  "+role[1]+": ") {
			t.Errorf("the role %s has no word: add one to web/src/language/codes.ts", role[1])
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What a node proposes as a dashboard nobody has written in a language of their own.
func TestThePageHasWordsForTheTitlesOfProposedDashboards(t *testing.T) {
	page := read(t, "src/dashboard/proposed.ts")
	files, err := filepath.Glob("../dashboard/template/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, title := range regexp.MustCompile(`[tT]itle: *"([^"]+)"`).FindAllStringSubmatch(read(t, file), -1) {
			found++
			if !strings.Contains(page, `: "`+title[1]+`",`) {
				t.Errorf("%s: the title %q has no words: add some to web/src/dashboard/proposed.ts", file, title[1])
			}
		}
	}
	if found == 0 {
		t.Error("no titles found")
	}
}
