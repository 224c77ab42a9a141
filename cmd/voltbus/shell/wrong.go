package shell

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/internal/plural"
)

// wrongArgs explains the arguments of a command. err is cobra's error.
func wrongArgs(cmd *cobra.Command, args []string, err error) error {
	_, takes, _ := strings.Cut(cmd.Use, " ")
	text := err.Error()
	counted := strings.HasPrefix(text, "accepts ") || strings.HasPrefix(text, "requires ")
	switch {
	case counted && len(args) == 0:
		err = fmt.Errorf("say %s", takes)
	case counted:
		err = fmt.Errorf("takes %s, and %s there; put one with spaces in quotes", takes, plural.Of(len(args), "word")+plural.Word(len(args), " is", " are"))
	case strings.HasPrefix(text, "unknown command") && !cmd.HasSubCommands() && len(args) > 0:
		err = fmt.Errorf("%q does not belong here", args[0])
	}
	return Usage(fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
}

var wrongValue = regexp.MustCompile(`^invalid argument (".*") for "(?:-., )?(--[^"]*)" flag: `)

// WrongFlag explains the value of a flag. err is cobra's error.
func WrongFlag(cmd *cobra.Command, err error) error {
	if m := wrongValue.FindStringSubmatch(err.Error()); m != nil {
		form := "another value"
		switch flag := cmd.Flag(strings.TrimPrefix(m[2], "--")); {
		case flag == nil:
		case flag.Value.Type() == "duration":
			form = "a time such as 30s or 5m"
		case strings.HasPrefix(flag.Value.Type(), "int"), strings.HasPrefix(flag.Value.Type(), "uint"):
			form = "a whole number"
		case strings.HasPrefix(flag.Value.Type(), "float"):
			form = "a number"
		case flag.Value.Type() == "bool":
			form = "true or false"
		}
		err = fmt.Errorf("%s is %s, and must be %s", m[2], m[1], form)
	}
	return Usage(fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
}

// Apart returns an error if more than one of these mutually exclusive flags is given.
func Apart(cmd *cobra.Command, names ...string) error {
	var given []string
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) < 2 {
		return nil
	}
	return Usage(fmt.Errorf("%s exclude each other: leave all but one away", strings.Join(given, " and ")))
}
