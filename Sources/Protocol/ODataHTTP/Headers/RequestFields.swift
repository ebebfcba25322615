import HTTPTypes

/// The header fields that the decoder of requests needs, collected in one pass.
///
/// A repeated field becomes one text with commas (RFC 9110, 5.3), except for `Prefer`, whose values stay separate.
struct RequestFields {
    private(set) var accept: String?
    private(set) var acceptCharset: String?
    private(set) var contentEncoding: String?
    private(set) var httpMethod: String?
    private(set) var httpMethodOverride: String?
    private(set) var ifMatch: String?
    private(set) var ifNoneMatch: String?
    private(set) var isolation: String?
    private(set) var odataIsolation: String?
    private(set) var odataMaxVersion: String?
    private(set) var odataVersion: String?
    private(set) var prefer: [String] = []
    private(set) var repeatabilityClientID: String?
    private(set) var repeatabilityFirstSent: String?
    private(set) var repeatabilityRequestID: String?
    private(set) var requestID: String?
    private(set) var slug: String?

    init(_ fields: HTTPFields) {
        for field in fields { add(field) }
    }

    private mutating func add(_ field: HTTPField) {
        let name = field.name.canonicalName
        // Most fields are irrelevant, which the length of their name reveals faster than comparisons.
        switch name.utf8.count {
        case 4: if name == "slug" { Self.add(field, to: &slug) }
        case 6:
            if name == "accept" { Self.add(field, to: &accept) }
            if name == "prefer" { prefer.append(field.value) }
        case 8: if name == "if-match" { Self.add(field, to: &ifMatch) }
        case 9: if name == "isolation" { Self.add(field, to: &isolation) }
        case 12: if name == "x-request-id" { Self.add(field, to: &requestID) }
        case 13:
            if name == "odata-version" { Self.add(field, to: &odataVersion) }
            if name == "if-none-match" { Self.add(field, to: &ifNoneMatch) }
            if name == "x-http-method" { Self.add(field, to: &httpMethod) }
        case 14: if name == "accept-charset" { Self.add(field, to: &acceptCharset) }
        case 15: if name == "odata-isolation" { Self.add(field, to: &odataIsolation) }
        case 16:
            if name == "odata-maxversion" { Self.add(field, to: &odataMaxVersion) }
            if name == "content-encoding" { Self.add(field, to: &contentEncoding) }
        case 22: if name == "x-http-method-override" { Self.add(field, to: &httpMethodOverride) }
        case 23: if name == "repeatability-client-id" { Self.add(field, to: &repeatabilityClientID) }
        case 24:
            if name == "repeatability-request-id" { Self.add(field, to: &repeatabilityRequestID) }
            if name == "repeatability-first-sent" { Self.add(field, to: &repeatabilityFirstSent) }
        default: break
        }
    }

    private static func add(_ field: HTTPField, to text: inout String?) {
        text = text.map { $0 + ", " + field.value } ?? field.value
    }
}
