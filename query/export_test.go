package query

// Distance is how many characters differ.
var Distance = distance
