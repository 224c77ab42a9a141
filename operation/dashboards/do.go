package dashboards

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/api/answer"
	"voltbus/catalog"
	"voltbus/dashboard"
	"voltbus/dashboard/template"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/point"
)

func mayPut(_ context.Context, c *operation.Call, in *New) error {
	return may(c, &Key{Name: in.Name, Sharing: in.Sharing})
}

func mayChange[In any](key func(*In) *Key) operation.Judge[In] {
	return func(_ context.Context, c *operation.Call, in *In) error { return may(c, key(in)) }
}

var errShared = errors.New("is for all, and to change it needs the role operator; keep one of your own with the sharing owner")

// may returns why a caller may not change a dashboard.
func may(c *operation.Call, k *Key) error {
	c.Did(k.Name, map[string]string{"sharing": cmp.Or(k.Sharing, dashboard.SharedAll)})
	if k.Sharing != dashboard.SharedOwner && !c.Role.Includes(identity.Operator) {
		return fault.E("dashboard", fault.Refused, k.Name, errShared)
	}
	return nil
}

func (p *Part) list(ctx context.Context, c *operation.Call, _ *struct{}) (Dashboards, error) {
	out := Dashboards{Dashboards: []Listed{}}
	for _, owner := range []string{document.Shared, document.OwnerOf(c.Name)} {
		list, err := p.Documents.List(ctx, owner)
		if err != nil {
			return Dashboards{}, err
		}
		for i := range list {
			name, is := named(list[i].Key, Folder)
			if !is {
				continue
			}
			one, err := p.listed(ctx, &list[i], name)
			if err != nil {
				return Dashboards{}, err
			}
			out.Dashboards = append(out.Dashboards, one)
		}
	}
	slices.SortStableFunc(out.Dashboards, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// listed reads a document for its title, and for what is wrong with it.
func (p *Part) listed(ctx context.Context, d *document.Document, name string) (Listed, error) {
	out := Listed{Name: name, Title: name, Sharing: sharing(d.Key), Version: d.Version, By: d.By, At: d.At.UTC()}
	whole, err := p.Documents.Get(ctx, d.Key, d.Version)
	if err != nil {
		return Listed{}, err
	}
	read, err := dashboard.Parse([]byte(whole.Text))
	if err != nil {
		out.Wrong = err.Error()
	}
	out.Tiles = len(read.Tiles)
	out.Title = cmp.Or(read.Title, name)
	return out, nil
}

func (p *Part) get(ctx context.Context, c *operation.Call, in *Version) (Kept, error) {
	if err := dashboard.ValidName(in.Name); err != nil {
		return Kept{}, err
	}
	d, err := p.Documents.Get(ctx, in.document(c), in.Version)
	if err != nil {
		return Kept{}, err
	}
	return kept(&d)
}

func kept(d *document.Document) (Kept, error) {
	read, err := dashboard.Parse([]byte(d.Text))
	if err != nil {
		return Kept{}, problems(err)
	}
	read.Name, _ = named(d.Key, Folder)
	read.Sharing = sharing(d.Key)
	return Kept{Dashboard: read, Version: d.Version, By: d.By, At: d.At.UTC()}, nil
}

// problems converts the problems of a dashboard to the form that callers see.
func problems(err error) error {
	list, ok := errors.AsType[dashboard.Problems](err)
	if !ok {
		return err
	}
	out := make(answer.Problems, len(list))
	for i, p := range list {
		out[i] = answer.ConfigProblem{Path: p.Path, Detail: p.Text}
	}
	return fault.E("dashboard", fault.Invalid, "tiles", out)
}

func version(expect *int) int {
	if expect == nil {
		return document.AnyVersion
	}
	return *expect
}

func (p *Part) put(ctx context.Context, c *operation.Call, in *New) (Kept, error) {
	d := in.Dashboard
	d.Sharing = cmp.Or(d.Sharing, dashboard.SharedAll)
	if err := d.Validate(); err != nil {
		return Kept{}, problems(err)
	}
	text, err := json.MarshalIndent(&d, "", "  ")
	if err != nil {
		return Kept{}, fault.E("dashboard.Put", fault.Internal, d.Name, err)
	}
	k := Key{Name: d.Name, Sharing: d.Sharing}
	written, err := p.Documents.Set(ctx, document.Document{
		Key: k.document(c), Type: document.JSON, Text: string(text) + "\n", By: c.Name, Note: in.Note,
	}, version(in.Expect))
	if err != nil {
		return Kept{}, err
	}
	return kept(&written)
}

func (p *Part) delete(ctx context.Context, c *operation.Call, in *Key) (operation.None, error) {
	return operation.None{}, p.Documents.Delete(ctx, in.document(c), c.Name, "", document.AnyVersion)
}

func (p *Part) history(ctx context.Context, c *operation.Call, in *Key) (Versions, error) {
	list, err := p.Documents.History(ctx, in.document(c))
	out := Versions{Versions: make([]OneVersion, len(list))}
	for i, d := range list {
		out.Versions[i] = OneVersion{Version: d.Version, By: d.By, At: d.At.UTC(), Note: d.Note, Deleted: d.Deleted}
	}
	return out, err
}

func (p *Part) restore(ctx context.Context, c *operation.Call, in *Return) (Kept, error) {
	k := in.document(c)
	old, err := p.Documents.Get(ctx, k, in.Version)
	if err != nil {
		return Kept{}, err
	}
	if _, err := kept(&old); err != nil {
		return Kept{}, err
	}
	d, err := p.Documents.Rollback(ctx, k, in.Version, c.Name, version(in.Expect))
	if err != nil {
		return Kept{}, err
	}
	return kept(&d)
}

// mostPoints is as many as a template looks at.
const mostPoints = 10_000

var errNoPoints = errors.New("no point of such a device is known; devices.list lists them")

func (p *Part) template(ctx context.Context, _ *operation.Call, in *Subject) (Made, error) {
	f := catalog.Filter{Limit: mostPoints}
	if in.Device != "" {
		if err := point.Path(in.Device).Validate(); err != nil {
			return Made{}, fault.E("dashboard.template", fault.Invalid, "device", err)
		}
		if f.Pattern = point.Pattern(in.Device); strings.Contains(in.Device, "*") { // it would be a wildcard
			f.Pattern, f.Keep = "", func(p point.Path) bool { return strings.HasPrefix(string(p), in.Device+"/") }
		}
	}
	page, err := p.Points.Search(ctx, f)
	if err != nil {
		return Made{}, err
	}
	points := make([]point.Info, 0, len(page.Entries))
	for i := range page.Entries {
		if e := &page.Entries[i]; in.Device == "" || e.Device == point.Path(in.Device) {
			points = append(points, e.Info)
		}
	}
	if in.Device == "" {
		return Made{Dashboard: template.Home(points), Equipment: "building"}, nil
	}
	if len(points) == 0 {
		return Made{}, fault.E("dashboard.template", fault.NotFound, in.Device, errNoPoints)
	}
	d, kind := template.Device(in.Device, points)
	d.Description = fmt.Sprintf("Made for %s, taken for %s", in.Device, kind)
	return Made{Dashboard: d, Equipment: kind}, nil
}
