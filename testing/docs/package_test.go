package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTheDebianPackageHasWhatItsScriptsNeed(t *testing.T) {
	nfpm, err := filepath.Glob(filepath.Join(root(), "build/tools/nfpm-*"))
	if err != nil || len(nfpm) == 0 {
		t.Skip("NOT TESTED: nfpm is not there: run `make deploy-tools`")
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("NOT TESTED: dpkg-deb is not there: this is no Debian")
	}
	stage := t.TempDir()
	for _, name := range []string{"voltbus", "voltbus.service", "changelog.gz", "changelog.Debian.gz"} { // what tools/dist.sh makes
		if err := os.WriteFile(filepath.Join(stage, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(stage, "voltbus.deb")
	pack := exec.CommandContext(t.Context(), nfpm[len(nfpm)-1], "package", "--config", "deploy/package/nfpm.yaml", "--packager", "deb", "--target", file)
	pack.Dir = root()
	pack.Env = append(os.Environ(), "ARCH=amd64", "VERSION=1.2.3-dev", "STAGE="+stage, "PROGRAM="+stage+"/voltbus", "SOURCE_DATE_EPOCH=1000000000", "LIBC=2.34", "LIBSTDCXX=12")
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%s%v", out, err)
	}
	listed, err := does(t, "dpkg-deb", "--contents", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`-rwxr-xr-x root/root .* \./usr/bin/voltbus`, `-rw-r--r-- root/root .* \./lib/systemd/system/voltbus.service`,
		`-rw-r--r-- root/root .* \./usr/share/voltbus/voltbus.yaml`, `\./usr/share/doc/voltbus/copyright`, `\./usr/share/doc/voltbus/sbom.cdx.json`,
	} {
		if !regexp.MustCompile("(?m)" + want + "$").MatchString(listed) {
			t.Errorf("the package has no %s:\n%s", want, listed)
		}
	}
	if version, err := does(t, "dpkg-deb", "--field", file, "Version"); err != nil || strings.TrimSpace(version) != "1.2.3~dev-1" {
		t.Errorf("the version is %q, %v: a release must be newer", version, err)
	}
	if depends, err := does(t, "dpkg-deb", "--field", file, "Depends"); err != nil || strings.TrimSpace(depends) != "libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 12), passwd" {
		t.Errorf("it depends on %s, %v", depends, err)
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		if out, err := does(t, "sh", "-n", "deploy/package/"+script); err != nil {
			t.Errorf("%s: %s%v", script, out, err)
		}
	}
	checked(t, read(t, "deploy/package/voltbus.yaml"))
}

func TestTheBillOfMaterialsIsWhatCycloneDXSays(t *testing.T) {
	tool(t, "hadolint") // comes with the same list
	const script = `import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())
sys.exit(str(wrong) if wrong else 0)`
	bill, err := does(t, program(t), "version", "--sbom=cyclonedx")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		cmd := exec.CommandContext(t.Context(), filepath.Join(root(), ".venv/bin/python"), "-c", script)
		cmd.Stdin = bytes.NewReader([]byte(text))
		return cmd.Run()
	}
	if err := check(bill); err != nil {
		t.Error(err)
	}
	if check(strings.Replace(bill, `"CycloneDX"`, `"Other"`, 1)) == nil {
		t.Error("the validator takes everything")
	}
}
