package peers

import (
	"errors"
	"os/exec"
	"testing"
)

// readPDF writes the text of each page of a file, with form feeds between the pages.
const readPDF = `import sys, pypdf
print("\f".join(page.extract_text() for page in pypdf.PdfReader(sys.argv[1], strict=True).pages))`

// PDF returns the text of a PDF file as pypdf reads it, which refuses files that are wrong, with form feeds between the pages.
func PDF(t testing.TB, file string) string {
	t.Helper()
	read := exec.CommandContext(t.Context(), Python(t), "-c", readPDF, file)
	out, err := read.Output()
	if err != nil {
		said := ""
		if failed, is := errors.AsType[*exec.ExitError](err); is {
			said = string(failed.Stderr)
		}
		t.Fatalf("pypdf does not read %s: %v\n%s", file, err, said)
	}
	return string(out)
}
