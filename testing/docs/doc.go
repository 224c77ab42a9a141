// Package docs tests that the documentation matches the program. Its tests run the commands of the tutorials, follow every relative link,
// and compare the reference of the command line with the program's own help.
//
// A Markdown file that is run works as follows. Its fenced blocks are taken in order, in one empty
// directory:
//
//   - "console" blocks hold commands behind "$ " and, below each, what it prints. A command must
//     succeed, and its output must hold the printed lines in their order. Numbers, times,
//     addresses and the marks of origins may differ, "…" stands for anything. A command is repeated for a while until
//     that is so, because readings take their time to come.
//   - A block without a file's name whose language is "python" holds a program, and the block of
//     "text" behind it what the program prints, compared in the same way.
//   - Any other block whose first line names a file after the language, as in "```yaml voltbus.yaml",
//     is written to that file.
//   - A comment in front of a block says what is special: "<!-- background -->" for a command that
//     goes on running, "<!-- fails -->" for one that must not succeed, "<!-- not run: reason -->"
//     for one that cannot be run in a test.
//
// The port numbers of a document are replaced by free ones.
package docs

//go:generate env UPDATE_DOCS=1 go test -count=1 -run TestTheCommandLineReferenceIsCurrent .
