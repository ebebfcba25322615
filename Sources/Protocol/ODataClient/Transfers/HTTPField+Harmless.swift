import HTTPTypes
import ODataHTTP

extension HTTPField.Name {
    /// The fields that may be sent to any origin to which a link or a redirect leads. They describe the desired
    /// response, but not the caller.
    static let harmless: Set<HTTPField.Name> = [
        .accept, .acceptEncoding, .acceptLanguage, .odataVersion, .odataMaxVersion, .dataServiceVersion,
        .maxDataServiceVersion, .prefer, .userAgent, .range, .ifRange, .ifNoneMatch, .ifModifiedSince, .contentType,
    ]
}
