import ODataModel
import ODataService

/// Which format a response gets (OData Protocol 4.01, 8.2.1 and 8.2.7; URL Conventions 4.01, 5.1.2).
///
/// `$format` outranks `Accept`. A range with parameters that are unknown here does not match, as Protocol
/// 8.2.1 asks; when nothing matches, the answer is 406 and says what there is.
struct ContentNegotiation {
    /// What the resource can be represented as.
    enum Representation: Sendable {
        /// Entities, properties, references, the service document: JSON.
        case json
        /// `$metadata`: XML.
        case metadata
        /// `$count`: plain text.
        case text
        /// `$value` and media: whatever the resource is.
        case raw
        /// `$batch`: multipart or JSON.
        case batch
    }

    /// What was agreed on.
    struct Agreement: Hashable, Sendable {
        /// How JSON is written, the service root not yet filled in.
        var format: ResponseFormat
        /// `$batch`: whether the response is JSON rather than multipart.
        var isJSON: Bool
    }

    /// The values of `Accept`, joined.
    var accept: String?
    /// `$format`.
    var formatOption: String?
    /// The version that the response has.
    var version: ODataVersion

    /// Chooses a format.
    ///
    /// - Throws: 400 when `Accept` is malformed, 406 when nothing in it can be given.
    func agree(on representation: Representation) throws(ODataError) -> Agreement {
        // Counts and raw values are what they are: there is nothing to negotiate (Protocol 11.2.10).
        if representation == .text || representation == .raw {
            return Agreement(format: ResponseFormat(version: version), isJSON: true)
        }
        let ranges = try ranges()
        var best: (range: MediaType, agreement: Agreement)?
        for range in ranges where range.weight > 0 {
            guard let agreement = agreement(range, representation) else { continue }
            if let chosen = best, chosen.range.weight >= range.weight,
                chosen.range.weight > range.weight || specificity(chosen.range) >= specificity(range)
            {
                continue
            }
            best = (range, agreement)
        }
        guard let best else {
            throw ODataError(
                status: 406, code: "NotAcceptable",
                message: "None of \(ranges.map(\.description).joined(separator: ", ")) can be given here; "
                    + "available: \(available(representation)).",
                target: formatOption == nil ? "Accept" : "$format")
        }
        return best.agreement
    }

    private func ranges() throws(ODataError) -> [MediaType] {
        if let formatOption {
            switch formatOption {
            case "json": return [MediaType("application", "json")]
            case "xml": return [MediaType("application", "xml")]
            case "atom": return [MediaType("application", "atom+xml")]
            default: break
            }
            // A plus sign in a query may have been decoded to a space.
            guard let type = MediaType(formatOption.replacing(" ", with: "+")) else {
                throw ODataError(
                    status: 400, code: "InvalidFormat", message: "\(formatOption) is no media type.", target: "$format")
            }
            return [type]
        }
        guard let accept else { return [MediaType("*", "*")] }
        guard let list = MediaType.list(accept) else {
            throw ODataError(
                status: 400, code: "InvalidHeader", message: "Accept is no list of media ranges: \(accept)",
                target: "Accept")
        }
        return list.isEmpty ? [MediaType("*", "*")] : list
    }

    private func agreement(_ range: MediaType, _ representation: Representation) -> Agreement? {
        let plain = Agreement(format: ResponseFormat(version: version), isJSON: true)
        switch representation {
        case .json:
            guard range.matches("application", "json") else { return nil }
            return format(range.parameters).map { Agreement(format: $0, isJSON: true) }
        case .metadata:
            return range.matches("application", "xml") && onlyCharset(range) ? plain : nil
        case .text, .raw: return plain
        case .batch:
            if range.matches("multipart", "mixed") { return Agreement(format: plain.format, isJSON: false) }
            guard range.matches("application", "json") else { return nil }
            return format(range.parameters).map { Agreement(format: $0, isJSON: true) }
        }
    }

    private func format(_ parameters: [MediaType.Parameter]) -> ResponseFormat? {
        var format = ResponseFormat(version: version)
        for parameter in parameters {
            let value = parameter.value.lowercased()
            switch parameter.name {
            case "odata.metadata", "metadata":
                guard let metadata = ResponseFormat.Metadata(rawValue: value) else { return nil }
                format.metadata = metadata
            case "ieee754compatible":
                guard value == "true" || value == "false" else { return nil }
                format.isIEEE754Compatible = value == "true"
            case "odata.streaming", "streaming":
                // What is written is always in the order that streaming asks for.
                guard value == "true" || value == "false" else { return nil }
            case "exponentialdecimals":
                // Decimals are written in plain notation, which both settings allow to be read.
                guard value == "true" || value == "false" else { return nil }
            case "charset":
                guard value == "utf-8" || value == "utf8" else { return nil }
            default: return nil
            }
        }
        return format
    }

    private func onlyCharset(_ range: MediaType) -> Bool {
        range.parameters.allSatisfy { $0.name == "charset" && $0.value.lowercased() == "utf-8" }
    }

    private func specificity(_ range: MediaType) -> Int {
        range.type == "*" ? 0 : range.subtype == "*" ? 1 : 2 + range.parameters.count
    }

    private func available(_ representation: Representation) -> String {
        switch representation {
        case .json: "application/json"
        case .metadata: "application/xml"
        case .text: "text/plain"
        case .raw: "*/*"
        case .batch: "multipart/mixed, application/json"
        }
    }
}

extension ResponseFormat {
    /// The media type that says how a body in this format is written (OData JSON Format 4.01, 3).
    public var mediaType: String {
        var type = "application/json;odata.metadata=\(metadata.rawValue)"
        if isIEEE754Compatible { type += ";IEEE754Compatible=true" }
        return type
    }
}

/// The versions in the headers of a request (OData Protocol 4.01, 8.1.5 and 8.2.7).
struct VersionHeaders {
    var version: String?
    var maxVersion: String?

    /// The version that the response gets.
    ///
    /// - Throws: 400 for a version that is not 4.0 or 4.01, and for a greatest version below 4.0.
    func responseVersion() throws(ODataError) -> ODataVersion {
        if let version, parse(version) == nil || parse(version) == .v3 {
            throw ODataError(
                status: 400, code: "UnsupportedVersion",
                message: "OData-Version is \(version); 4.0 and 4.01 are understood.", target: "OData-Version")
        }
        guard let maxVersion else { return .v401 }
        switch parse(maxVersion) {
        case .v4: return .v4
        case .v401: return .v401
        default:
            throw ODataError(
                status: 400, code: "UnsupportedVersion",
                message: "OData-MaxVersion is \(maxVersion); the least that can be given is 4.0.",
                target: "OData-MaxVersion")
        }
    }

    /// The greatest known version that a text does not go below; `.v3` stands for all before 4.0.
    private func parse(_ text: String) -> ODataVersion? {
        let parts = text.split(separator: ";").first.map(String.init) ?? text
        let numbers = HeaderTokens.trim(parts).split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, let major = Int(numbers[0]), let minor = Int(numbers[1]), major >= 1, minor >= 0
        else { return nil }
        if major < 4 { return .v3 }
        return major == 4 && minor == 0 ? .v4 : .v401
    }
}
