import HTTPTypes
import ODataHTTP

extension HTTPField.Name {
    /// The fields that may go along to another origin, wherever a link or a redirect leads: they say how an answer is to
    /// look and which part of it is wanted, and nothing of who asks.
    static let harmless: Set<HTTPField.Name> = [
        .accept, .acceptEncoding, .acceptLanguage, .odataVersion, .odataMaxVersion, .dataServiceVersion,
        .maxDataServiceVersion, .prefer, .userAgent, .range, .ifRange, .ifNoneMatch, .ifModifiedSince, .contentType,
    ]
}
