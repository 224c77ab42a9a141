// Package drawing makes SVG pictures of strangers safe to show inside a page: it reads them against lists of what is allowed, and writes
// anew only what it understood. It knows no disk and no page.
//
// # What is refused
//
// What could run, load or expand is refused with the element that does it: scripts, event handlers, references to other documents, HTML,
// animations, style sheets, entities, pictures that multiply themselves by references, and everything beyond the limits.
//
// # What is left out
//
// What is of no effect in a page is left out in silence: comments, data of the programs that made the picture, classes, and filters.
// Declarations of style attributes become attributes of their own, because a page with a strict content security policy ignores styles.
package drawing
