import ODataModel
import ODataService

/// The choice of a response's format (OData Protocol 4.01, 7, 8.2.1 and 8.2.2; URL Conventions 4.01, 5.1.2).
///
/// `$format` takes precedence over `Accept`. A range with unknown parameters does not match, as Protocol 8.2.1
/// requires. If no range matches, the response is 406 with the supported formats.
struct ContentNegotiation {
    /// The kinds of representations that a resource can have.
    enum Representation: Sendable {
        /// Entities, properties, references, the service document: JSON.
        case json
        /// `$metadata`: XML, or JSON if it is requested.
        case metadata
        /// `$count`: plain text.
        case text
        /// `$value` and streams: the media type of the resource.
        case raw
        /// `$batch`: multipart or JSON.
        case batch
        /// Changes whose response has no body: `Accept` is not checked.
        case nothing
    }

    /// The result of the negotiation.
    struct Agreement: Hashable, Sendable {
        /// The format of JSON, still without the service root.
        var format: ResponseFormat
        /// The `Content-Type` of JSON, with parameters in the notation of the client.
        var contentType: String
        /// Whether the response is JSON rather than XML or multipart.
        var isJSON: Bool
        /// Whether the client requested a character set, which the response then states.
        var namesCharset: Bool
    }

    /// The values of `Accept`, joined.
    var accept: String?
    /// The values of `Accept-Charset`, joined.
    var acceptCharset: String?
    /// The value of `$format`.
    var formatOption: String?
    /// The version of the response.
    var version: ODataVersion
    /// Whether control information is written with the prefix that all versions understand, since the client may
    /// only know 4.0.
    var isPrefixed: Bool

    /// Creates a negotiation from the values of a request.
    init(
        accept: String?, acceptCharset: String? = nil, formatOption: String?, version: ODataVersion,
        isPrefixed: Bool = false
    ) {
        self.isPrefixed = isPrefixed || version < .v401
        self.accept = accept
        self.acceptCharset = acceptCharset
        self.formatOption = formatOption
        self.version = version
    }

    /// Creates a negotiation from the header fields, the query and the versions of a request.
    init(_ fields: RequestFields, formatOption: String?, versions: VersionHeaders, version: ODataVersion) {
        self.init(
            accept: fields.accept, acceptCharset: fields.acceptCharset, formatOption: formatOption, version: version,
            isPrefixed: !versions.stateV401)
    }

    /// Chooses a format.
    ///
    /// - Throws: 400 if `Accept` is malformed, 406 if none of its formats is supported.
    func agree(on representation: Representation) throws(ODataError) -> Agreement {
        // The format is JSON if the response has a body after all.
        if representation == .nothing { return (try? agree(on: .json)) ?? plain }
        try requireUTF8(representation)
        // The format of counts and raw values is not negotiable (Protocol 11.2.10).
        if representation == .text || representation == .raw {
            let charset = accept.flatMap { MediaType.list($0) }?.contains { $0["charset"] != nil } ?? false
            return agreement(
                FormatParameters([], version: version, isPrefixed: isPrefixed), isJSON: true, namesCharset: charset)
                ?? plain
        }
        let ranges = try ranges()
        var best: (range: MediaType, agreement: Agreement)?
        for range in ranges where range.weight > 0 {
            guard let agreement = agreement(range, representation),
                !isExcluded(range, ranges, representation: representation)
            else {
                continue
            }
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
                message: "None of \(ranges.map(\.description).joined(separator: ", ")) is available here; "
                    + "available: \(available(representation)).",
                target: formatOption == nil ? "Accept" : "$format")
        }
        return best.agreement
    }

    /// Returns whether a more specific range with the weight 0 excludes the representation of a range.
    private func isExcluded(
        _ range: MediaType, _ ranges: [MediaType], representation: Representation
    ) -> Bool {
        ranges.contains {
            $0.weight == 0 && $0.parameters.isEmpty && specificity($0) > specificity(range)
                && agreement($0, representation) != nil
        }
    }

    /// Checks `Accept-Charset`: all responses except streams and binary values are in UTF-8.
    private func requireUTF8(_ representation: Representation) throws(ODataError) {
        guard representation != .raw, let acceptCharset else { return }
        let sets = HeaderTokens.split(acceptCharset, at: ",").filter { !$0.isEmpty }.map { item in
            (HeaderTokens.split(item, at: ";").first ?? item).lowercased()
        }
        guard !sets.isEmpty, !sets.contains(where: { ["utf-8", "utf8", "*"].contains($0) }) else { return }
        throw ODataError(
            status: 406, code: "NotAcceptable", message: "Responses are in UTF-8, not in \(acceptCharset.prefix(80)).",
            target: "Accept-Charset")
    }

    private func ranges() throws(ODataError) -> [MediaType] {
        if let formatOption {
            let name = formatOption.prefix { $0 != ";" }
            let subtype = ["json": "json", "xml": "xml", "atom": "atom+xml"][name.lowercased()]
            // Parameters may follow an abbreviation too. A plus sign may have been decoded to a space.
            let text = subtype.map { "application/\($0)\(formatOption.dropFirst(name.count))" } ?? formatOption
            guard let type = MediaType(text.replacing(" ", with: "+")) else {
                throw ODataError(
                    status: 406, code: "NotAcceptable", message: "\(formatOption.prefix(80)) is not a known format.",
                    target: "$format")
            }
            return [type]
        }
        guard let accept else { return [MediaType("*", "*")] }
        guard let list = MediaType.list(accept) else {
            throw ODataError(
                status: 400, code: "InvalidHeader", message: "Accept is not a list of media ranges: \(accept)",
                target: "Accept")
        }
        return list.isEmpty ? [MediaType("*", "*")] : list
    }

    private var plain: Agreement {
        let format = ResponseFormat(version: version, isPrefixed: isPrefixed)
        return Agreement(format: format, contentType: format.mediaType, isJSON: true, namesCharset: false)
    }

    private func agreement(_ range: MediaType, _ representation: Representation) -> Agreement? {
        let charset = range["charset"] != nil
        switch representation {
        case .json:
            guard range.matches("application", "json") else { return nil }
            return agreement(
                FormatParameters(range.parameters, version: version, isPrefixed: isPrefixed), isJSON: true,
                namesCharset: charset)
        case .metadata:
            if range.matches("application", "xml"), onlyCharset(range) {
                return agreement(
                    FormatParameters([], version: version, isPrefixed: isPrefixed), isJSON: false, namesCharset: charset
                )
            }
            guard range.matches("application", "json") else { return nil }
            return agreement(
                FormatParameters(range.parameters, version: version, isPrefixed: isPrefixed), isJSON: true,
                namesCharset: charset)
        case .text, .raw, .nothing: return plain
        case .batch:
            if range.matches("multipart", "mixed") {
                return agreement(
                    FormatParameters([], version: version, isPrefixed: isPrefixed), isJSON: false, namesCharset: false)
            }
            guard range.matches("application", "json") else { return nil }
            return agreement(
                FormatParameters(range.parameters, version: version, isPrefixed: isPrefixed), isJSON: true,
                namesCharset: charset)
        }
    }

    private func agreement(_ parameters: FormatParameters?, isJSON: Bool, namesCharset: Bool) -> Agreement? {
        parameters.map {
            Agreement(format: $0.format, contentType: $0.contentType, isJSON: isJSON, namesCharset: namesCharset)
        }
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
        case .metadata: "application/xml, application/json"
        case .text: "text/plain"
        case .raw, .nothing: "*/*"
        case .batch: "multipart/mixed, application/json"
        }
    }
}
