package drawing

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// take takes over the attributes that are allowed.
func (n *node) take(attrs []xml.Attr) error {
	var styles []xml.Attr
	for _, a := range attrs {
		name := strings.ToLower(a.Name.Local)
		switch {
		case a.Name.Space == "xmlns" || a.Name.Local == "xmlns":
		case strings.HasPrefix(name, "on"):
			return n.refuse(a.Name.Local, "event handlers run scripts; remove the attribute")
		case name == "href" && (a.Name.Space == "" || a.Name.Space == linkSpace):
			if err := n.refer(a.Value); err != nil {
				return err
			}
		case a.Name.Space != "":
		case name == "style":
			list, err := n.style(a.Value)
			if err != nil {
				return err
			}
			styles = append(styles, list...)
		case attributeNames[a.Name.Local]:
			if err := n.put(a.Name.Local, a.Value); err != nil {
				return err
			}
		}
	}
	for _, s := range styles { // a declaration goes before an attribute
		n.attrs = slices.DeleteFunc(n.attrs, func(a xml.Attr) bool { return a.Name.Local == s.Name.Local })
		n.attrs = append(n.attrs, s)
	}
	return nil
}

func (n *node) refuse(attribute, why string) error {
	return refuse(n.line, "<"+n.name+" "+short(attribute)+">", errors.New(why))
}

var (
	local = regexp.MustCompile(`^#[^\s"'()<>\\]{1,200}$`)
	paint = regexp.MustCompile(`(?i)url\(\s*['"]?([^'")]*)['"]?\s*\)`)
	image = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,`)
	ident = regexp.MustCompile(`^[^\s"'()<>\\#]{1,200}$`)
)

// refer takes over a reference: to another element, or for an image its own data.
func (n *node) refer(to string) error {
	to = strings.TrimSpace(to)
	if n.name == "image" {
		begin := image.FindString(to)
		data := strings.Join(strings.Fields(to[len(begin):]), "")
		if begin == "" {
			return n.refuse("href", "an image must be embedded as data:image/png;base64 or jpeg, gif or webp; nothing is loaded from elsewhere")
		}
		if _, err := base64.StdEncoding.DecodeString(data); err != nil {
			return n.refuse("href", "the data of the image is not base64")
		}
		to = begin + data
	} else if !local.MatchString(to) {
		return n.refuse("href", "a reference must be to an element of the picture, such as #symbol; nothing is loaded from elsewhere")
	}
	n.attrs = append(n.attrs, xml.Attr{Name: xml.Name{Local: "href"}, Value: to})
	return nil
}

// put takes over an attribute whose name is allowed.
func (n *node) put(name, value string) error {
	if err := n.inert(name, value); err != nil {
		return err
	}
	if name == "id" && !ident.MatchString(value) {
		return n.refuse("id", "an identifier must have 1 to 200 characters without spaces, quotes, brackets, # and \\")
	}
	n.attrs = append(n.attrs, xml.Attr{Name: xml.Name{Local: name}, Value: value})
	return nil
}

// inert returns what could load something in a value.
func (n *node) inert(name, value string) error {
	if strings.Contains(value, `\`) || strings.Contains(value, "/*") {
		return n.refuse(name, `a value must have no \ and no comment`)
	}
	rest := paint.ReplaceAllStringFunc(value, func(found string) string {
		if local.MatchString(paint.FindStringSubmatch(found)[1]) {
			return ""
		}
		return found
	})
	lower := strings.ToLower(rest)
	for _, word := range []string{"url(", "expression(", "javascript:", "image-set(", "image(", "src(", "@import", "var("} {
		if strings.Contains(lower, word) {
			return n.refuse(name, fmt.Sprintf("%s is not allowed in a value; refer to elements of the picture as url(#name)", word))
		}
	}
	return nil
}

// style returns the declarations that are attributes, too.
func (n *node) style(text string) ([]xml.Attr, error) {
	if err := n.inert("style", text); err != nil {
		return nil, err
	}
	var list []xml.Attr
	for declaration := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(declaration, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		value = strings.TrimSpace(strings.TrimSuffix(value, "!important"))
		if ok && presentationNames[name] && value != "" {
			list = append(list, xml.Attr{Name: xml.Name{Local: name}, Value: value})
		}
	}
	return list, nil
}

// references returns the identifiers to which the element refers.
func (n *node) references() []string {
	var list []string
	for _, a := range n.attrs {
		if a.Name.Local == "href" {
			if id, is := strings.CutPrefix(a.Value, "#"); is {
				list = append(list, id)
			}
			continue
		}
		if !strings.Contains(a.Value, "#") {
			continue
		}
		for _, found := range paint.FindAllStringSubmatch(a.Value, -1) {
			list = append(list, strings.TrimPrefix(found[1], "#"))
		}
	}
	return list
}
