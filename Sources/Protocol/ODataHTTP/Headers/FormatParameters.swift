import ODataModel
import ODataService

/// The format parameters of `application/json` (OData JSON Format 4.01, 3.1 to 3.4).
///
/// 4.01 names them without the prefix `odata.` that 4.0 demands; each version understands both.
struct FormatParameters {
    /// How the body is written.
    private(set) var format: ResponseFormat
    /// The name that the client gave the metadata level.
    private var metadataName: String?
    /// What goes back as it came: `streaming` and `charset`.
    private var echoed: [MediaType.Parameter] = []

    /// Reads the parameters of a range.
    ///
    /// - Returns: `nil` when one is unknown or has an unknown value: such a range does not match (Protocol 8.2.1).
    init?(_ parameters: [MediaType.Parameter], version: ODataVersion, isPrefixed: Bool) {
        // Who writes the name of 4.01 reads 4.01.
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
                // What is written is always in the order that streaming asks for.
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

    /// What `Content-Type` says of a body written so.
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
    /// The media type that says how a body in this format is written (OData JSON Format 4.01, 3).
    public var mediaType: String { mediaType(prefix: isPrefixed ? "odata." : "") }

    /// The media type for `Accept`: with the prefix, which services of every version understand.
    var acceptedMediaType: String { mediaType(prefix: "odata.") }

    private func mediaType(prefix: String) -> String {
        "application/json;\(prefix)metadata=\(metadata.rawValue)"
            + (isIEEE754Compatible ? ";IEEE754Compatible=true" : "")
    }
}
