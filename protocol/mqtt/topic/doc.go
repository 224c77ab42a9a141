// Package topic implements MQTT's topic names and topic filters (MQTT 5.0 §4.7): which are valid, which name matches which filter, which
// subscriptions match a message, and which retained messages a new subscription receives.
//
//	Check, CheckFilter, Parse   validity, shared subscriptions (§4.8.2)
//	Match                       one name against one filter
//	Tree                        subscriptions: a name against millions of filters
//	Retained                    retained messages: a filter against millions of names
//
// A Tree and a Retained are not safe for concurrent use, except that any number of goroutines may
// look up at once while none changes anything.
package topic
