package client

import "io"

// encodings lists the encodings of the API. Responses in other media types are not modified.
var encodings = []*encoding{jsonEncoding, yamlEncoding, protobufEncoding, cborEncoding}

// encoding is an encoding of the API from which managedFields can be removed.
type encoding struct {
	// mediaType is the Content-Type of objects, lists and tables.
	mediaType string
	// streamType is the Content-Type of watches. It is empty if it is mediaType.
	streamType string
	strip      stripper
	// frames returns a function that reads the next event of a watch and strips it, with its frame. It is nil for encodings
	// without watches.
	frames func(body io.Reader) func() ([]byte, error)
}

// stripper removes managedFields from a response, or from a watch event. It may modify the given bytes, and returns
// them if there are no managedFields.
type stripper func(body []byte) ([]byte, error)

// findEncoding returns the encoding of a media type, nil if there is none. isStream is true if the media type is that
// of watches only.
func findEncoding(mediaType string) (found *encoding, isStream bool) {
	for _, e := range encodings {
		switch mediaType {
		case e.mediaType:
			return e, false
		case e.streamType:
			return e, true
		}
	}
	return nil, false
}
