package drawing_test

import (
	"fmt"
	"strings"
	"testing"

	"voltbus/drawing"
	"voltbus/fault"
)

const head = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10 10">`

// What could run, load or expand is refused with the element that does it.
func TestUnsafePicturesAreRefusedWithTheElement(t *testing.T) {
	many := head + strings.Repeat("<g/>", drawing.MaxElements) + "</svg>"
	var laughs strings.Builder
	laughs.WriteString(head + `<g id="a0"><rect/></g>`)
	for i := range 20 {
		fmt.Fprintf(&laughs, `<g id="a%d"><use href="#a%d"/><use href="#a%d"/></g>`, i+1, i, i)
	}
	laughs.WriteString("</svg>")
	for name, c := range map[string]struct{ svg, want string }{
		"script":          {head + "<g>\n<script>alert(1)</script></g></svg>", "line 2, <script>: scripts"},
		"script in data":  {head + "<metadata><script>alert(1)</script></metadata></svg>", "<script>"},
		"script of HTML":  {head + `<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script></svg>`, "<script>"},
		"handler":         {head + `<rect onclick="alert(1)"/></svg>`, "<rect onclick>"},
		"handler, case":   {head + `<rect OnLoad="alert(1)"/></svg>`, "<rect OnLoad>"},
		"foreign object":  {head + `<foreignObject/></svg>`, "<foreignObject>"},
		"HTML":            {head + `<p xmlns="http://www.w3.org/1999/xhtml"/></svg>`, "<p>"},
		"animation":       {head + `<use href="#a"><set attributeName="href" to="javascript:alert(1)"/></use></svg>`, "<set>"},
		"link":            {head + `<a href="javascript:alert(1)"><text>x</text></a></svg>`, "<a>"},
		"style sheet":     {head + `<style>@import url(http://x/)</style></svg>`, "<style>"},
		"use elsewhere":   {head + `<use xlink:href="http://127.0.0.1/a.svg#b"/></svg>`, "<use href>"},
		"image elsewhere": {head + `<image href="http://127.0.0.1/a.png"/></svg>`, "<image href>"},
		"image of SVG":    {head + `<image href="data:image/svg+xml;base64,PHN2Zy8+"/></svg>`, "<image href>"},
		"image, spaces":   {head + `<image href=" java&#10;script:alert(1)"/></svg>`, "<image href>"},
		"paint elsewhere": {head + `<rect fill="url(http://127.0.0.1/#a)"/></svg>`, "<rect fill>"},
		"paint, quoted":   {head + `<rect style="fill: URL( '//x/#a' )"/></svg>`, "<rect style>"},
		"escape":          {head + `<rect style="fill:u\72l(//x)"/></svg>`, "<rect style>"},
		"cursor":          {head + `<rect style="cursor:image-set('//x' 1x)"/></svg>`, "<rect style>"},
		"entity":          {"<!DOCTYPE svg [<!ENTITY a \"b\">]>" + head + "&a;</svg>", "<!DOCTYPE>"},
		"unknown entity":  {head + "<text>&a;</text></svg>", "entity"},
		"instruction":     {`<?xml-stylesheet href="http://x/"?>` + head + "</svg>", "<?xml-stylesheet?>"},
		"no picture":      {"<html/>", "one <svg> element"},
		"two pictures":    {head + "</svg>" + head + "</svg>", "one <svg> element"},
		"nothing":         {"", "one <svg> element"},
		"cut off":         {head + "<g>", "cannot be read as XML"},
		"other encoding":  {head + "<text>\xff</text></svg>", "UTF-8"},
		"huge":            {head + strings.Repeat(" ", drawing.MaxBytes) + "</svg>", "more than 1048576 bytes"},
		"many":            {many, "more than 20000 elements"},
		"deep":            {head + strings.Repeat("<g>", drawing.MaxDepth) + strings.Repeat("</g>", drawing.MaxDepth) + "</svg>", "more than 64 deep"},
		"multiplied":      {laughs.String(), "<use>"},
		"circle":          {head + `<g id="a"><use href="#a"/></g></svg>`, "<use>"},
		"unknown":         {head + `<blink/></svg>`, "<blink>"},
		"identifier":      {head + `<g id="a b"/></svg>`, "<g id>"},
	} {
		p, err := drawing.Read([]byte(c.svg))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s gives %+v, %v; want an error with %q", name, p, err, c.want)
		}
	}
}

// What a drawing program writes is shown: its own data is left out, its inline styles become attributes.
func TestPicturesOfDrawingProgramsAreShown(t *testing.T) {
	p, err := drawing.Read([]byte(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<!-- made by hand --><svg xmlns="http://www.w3.org/2000/svg" xmlns:i="http://www.inkscape.org/namespaces/inkscape" viewBox="0 0 40 20">
<i:namedview pagecolor="#fff"><i:grid/></i:namedview><metadata><x/></metadata>
<defs><linearGradient id="sky"><stop offset="0" style="stop-color:#00f"/></linearGradient></defs>
<rect id="room" class="dot" i:label="Room" fill="red" style="fill:url(#sky); -i-x: 1; stroke : none !important" width="40" height="20"/>
<text id="t1" x="2" y="9">Room &lt;1&gt; <tspan>°C</tspan></text><image href="data:image/png;base64,iVBORw0K
 Ggo="/></svg>`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20">`, `<stop offset="0" stop-color="#00f"/>`,
		`<rect id="room" width="40" height="20" fill="url(#sky)" stroke="none"/>`, "Room &lt;1&gt; <tspan>°C</tspan>", `href="data:image/png;base64,iVBORw0KGgo="`,
	} {
		if !strings.Contains(p.SVG, want) {
			t.Errorf("%s\nhas no %s", p.SVG, want)
		}
	}
	if strings.Contains(p.SVG, "inkscape") || strings.Contains(p.SVG, "class") || strings.Contains(p.SVG, "made by") {
		t.Errorf("%s\nhas what is to be left out", p.SVG)
	}
	if got := fmt.Sprint(p.Elements); got != "[{sky linearGradient } {room rect } {t1 text Room <1> °C}]" {
		t.Errorf("its elements are %s", got)
	}
	again, err := drawing.Read([]byte(p.SVG))
	if err != nil || again.SVG != p.SVG {
		t.Errorf("read again it is %+v, %v", again, err)
	}
}

// Whatever is given, what comes out is accepted again as it is, and holds nothing that runs or loads.
func FuzzRead(f *testing.F) {
	f.Add(head + `<g id="a" style="fill:url(#b)"><use href="#b"/></g><rect id="b" onclick="x"/></svg>`)
	f.Add(head + `<image href="data:image/png;base64,AAAA"/><text>&lt;script&gt;</text></svg>`)
	f.Add(`<!DOCTYPE svg [<!ENTITY a "b">]>` + head + `<foreignObject/></svg>`)
	f.Fuzz(func(t *testing.T, svg string) {
		p, err := drawing.Read([]byte(svg))
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		again, err := drawing.Read([]byte(p.SVG))
		if err != nil || again.SVG != p.SVG {
			t.Fatalf("%q is read again as %+v, %v", p.SVG, again, err)
		}
		lower := strings.ToLower(p.SVG)
		for _, bad := range []string{"<script", "<foreignobject", "<style", "<a ", "<set"} {
			if strings.Contains(lower, bad) {
				t.Fatalf("%q has %s", p.SVG, bad)
			}
		}
	})
}
