import ODataModel
import ODataService

/// The format parameters of `application/json` (OData JSON Format 4.01, 3.1 to 3.4).
///
/// The names have no prefix in 4.01 and the prefix `odata.` in 4.0. Both are accepted in each version.
struct FormatParameters {
    /// The format of the body.
    private(set) var format: ResponseFormat
    /// The name of the metadata parameter in the request.
    private var metadataName: String?
    /// The parameters that are returned unchanged: `streaming` and `charset`.
    private var echoed: [MediaType.Parameter] = []

    /// Reads the parameters of a range.
    ///
    /// - Returns: `nil` if a parameter or its value is unknown, so that the range does not match (Protocol 8.2.1).
    init?(_ parameters: [MediaType.Parameter], version: ODataVersion, isPrefixed: Bool) {
        // A client that uses the name of 4.01 understands 4.01.
        let isPrefixed = isPrefixed && (version < .v401 || !parameters.contains { $0.name == "metadata" })
        format = ResponseFormat(version: version, isPrefixed: isPrefixed)
        for parameter in parameters {
            let value = parameter.value.lowercased()
            switch parameter.name {
            case "odata.metadata", "metadata":
                guard let metadata = ResponseFormat.Metadata(rawValue: value) else { return nil }
                format.metadata = metadata
                metadataName = parameter.name
            case "ieee754compatible":
                guard let flag = Bool(value) else { return nil }
                format.isIEEE754Compatible = flag
            case "odata.streaming", "streaming":
                // The order of the response always satisfies streaming.
                guard let flag = Bool(value) else { return nil }
                if flag { echoed.append(.init(version < .v401 ? "odata.streaming" : parameter.name, "true")) }
            case "exponentialdecimals":
                // Decimals are written in plain notation, which both settings allow.
                guard Bool(value) != nil else { return nil }
            case "charset":
                guard value == "utf-8" || value == "utf8" else { return nil }
                echoed.append(.init("charset", "utf-8"))
            default: return nil
            }
        }
    }

    /// The names that the parameters of a request body may have.
    static let names: Set<String> = [
        "charset", "odata.metadata", "metadata", "odata.streaming", "streaming", "ieee754compatible",
        "exponentialdecimals",
    ]

    /// The `Content-Type` of a body in this format.
    var contentType: String {
        let name =
            format.version < .v401 ? "odata.metadata" : metadataName ?? (format.isPrefixed ? "odata." : "") + "metadata"
        var type = "application/json;\(name)=\(format.metadata.rawValue)"
        if format.isIEEE754Compatible { type += ";IEEE754Compatible=true" }
        for parameter in echoed { type += ";\(parameter.name)=\(parameter.value)" }
        return type
    }
}

extension ResponseFormat {
    /// The media type of a body in this format (OData JSON Format 4.01, 3).
    public var mediaType: String { mediaType(prefix: isPrefixed ? "odata." : "") }

    /// The media type for `Accept`, with the prefix, which services of every version understand.
    var acceptedMediaType: String { mediaType(prefix: "odata.") }

    private func mediaType(prefix: String) -> String {
        "application/json;\(prefix)metadata=\(metadata.rawValue)"
            + (isIEEE754Compatible ? ";IEEE754Compatible=true" : "")
    }
}
