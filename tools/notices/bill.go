package main

import (
	"encoding/json"
	"regexp"
	"strings"
)

type m = map[string]any

// spdxOf writes the bill of materials as SPDX 2.3.
func spdxOf(parts []part) ([]byte, error) {
	const own = "SPDXRef-voltbus"
	list := []m{{
		"SPDXID": own, "name": "voltbus", "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
		"licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION",
	}}
	relations := []m{{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own}}
	odd := regexp.MustCompile(`[^A-Za-z0-9.-]+`)
	for i := range parts {
		p := &parts[i]
		id := "SPDXRef-" + odd.ReplaceAllString(p.kind+"-"+p.name, "-")
		list = append(list, m{
			"SPDXID": id, "name": p.name, "versionInfo": p.version, "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
			"licenseConcluded": p.licence, "licenseDeclared": p.licence, "copyrightText": "NOASSERTION",
			"externalRefs": []m{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": p.purl()}},
		})
		relation := "CONTAINS"
		if p.kind == "pypi" { // installed beside the SDK, not in the program
			relation = "DEPENDS_ON"
		}
		relations = append(relations, m{"spdxElementId": own, "relationshipType": relation, "relatedSpdxElement": id})
	}
	text, err := json.MarshalIndent(m{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "voltbus",
		"documentNamespace": "https://voltbus.invalid/spdx/voltbus",
		// The same input gives the same file, whenever it is made.
		"creationInfo": m{"created": "1970-01-01T00:00:00Z", "creators": []string{"Tool: voltbus-tools-notices"}},
		"packages":     list, "relationships": relations,
	}, "", " ")
	return append(text, '\n'), err
}

// cycloneOf writes the bill of materials as CycloneDX 1.6 (ECMA-424).
func cycloneOf(parts []part) ([]byte, error) {
	const own = "voltbus"
	var components, installed []m
	var holds, needs []string
	for i := range parts {
		p := &parts[i]
		c := m{
			"type": "library", "bom-ref": p.purl(), "name": p.name, "version": p.version, "purl": p.purl(), "scope": "required",
			"licenses": licences(p.licence),
		}
		if p.kind == "pypi" { // installed beside the SDK, not in the program
			c["scope"] = "optional"
			installed, needs = append(installed, c), append(needs, p.purl())
			continue
		}
		components, holds = append(components, c), append(holds, p.purl())
	}
	text, err := json.MarshalIndent(m{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": m{
			"tools":     m{"components": []m{{"type": "application", "name": "voltbus-tools-notices"}}},
			"component": m{"type": "application", "bom-ref": own, "name": own, "licenses": licences("Apache-2.0")},
		},
		"components":   append(components, installed...),
		"dependencies": []m{{"ref": own, "dependsOn": append(holds, needs...)}},
	}, "", " ")
	return append(text, '\n'), err
}

// licences is what CycloneDX wants: one identifier, or an expression.
func licences(id string) []m {
	if strings.Contains(id, " ") {
		return []m{{"expression": id}}
	}
	return []m{{"license": m{"id": id}}}
}
