package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// negatives annotates a command whose arguments may be negative numbers.
const negatives = "negatives"

// Shield precedes a negative number that is an argument, so that it is not taken for a flag.
const Shield = " "

var negative = regexp.MustCompile(`^-\.?[0-9]`)

// TakesNegatives marks the command as one whose arguments may be negative numbers.
func TakesNegatives(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{negatives: "true"}
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args = slices.Clone(args)
		for i := range args {
			args[i] = strings.TrimPrefix(args[i], Shield)
		}
		return run(cmd, args)
	}
	return cmd
}

// Shielded returns the program's arguments with a shield before negative numbers, if their command takes
// them. An argument after a flag is its value.
func Shielded(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Annotations[negatives] == "" {
		return args
	}
	out := make([]string, len(args))
	for i, arg := range args {
		if negative.MatchString(arg) && (i == 0 || !strings.HasPrefix(args[i-1], "-") || negative.MatchString(args[i-1])) {
			arg = Shield + arg
		}
		out[i] = arg
	}
	return out
}
