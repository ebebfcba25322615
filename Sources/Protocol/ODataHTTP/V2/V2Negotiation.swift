import HTTPTypes
import ODataFormat
import ODataModel
import ODataService

/// The choice of a response's format for V2 clients: Atom, or verbose JSON if it is requested (MS-ODATA, 2.2.5.1
/// and 2.2.3.6.1.7).
enum V2Negotiation {
    /// The kinds of representations that a resource can have.
    enum Representation {
        /// Entities, properties, links, the service document.
        case data
        /// `$metadata`: XML.
        case metadata
        /// `$count`, `$value`, streams, `$batch`, and changes without a response body: the format is fixed and
        /// `Accept` is not checked.
        case fixed
    }

    /// Chooses a format.
    ///
    /// - Throws: 400 if `Accept` is malformed, 406 if none of its formats is supported.
    static func format(
        _ fields: HTTPFields, formatOption: String?, _ representation: Representation
    ) throws(ODataError) -> PayloadFormat {
        let ranges =
            representation == .fixed ? (try? ranges(fields, formatOption)) ?? [] : try ranges(fields, formatOption)
        let order = ranges.enumerated().sorted {
            ($0.element.weight, -$0.offset) > ($1.element.weight, -$1.offset)
        }
        for (_, range) in order where range.weight > 0 {
            if let format = format(range, representation) { return format }
        }
        if representation == .fixed { return .atom(.v2) }
        throw ODataError(
            status: 406, code: "NotAcceptable",
            message: "None of \(ranges.map(\.description).joined(separator: ", ")) is available here.",
            target: formatOption == nil ? "Accept" : "$format")
    }

    /// Returns the format of an error response, for any request.
    static func errorFormat(_ message: HTTPRequest) -> PayloadFormat {
        let wantsJSON = message.path?.contains("$format=json") ?? false
        if wantsJSON { return .verboseJSON(.v2) }
        return (try? format(message.headerFields, formatOption: nil, .data)) ?? .atom(.v2)
    }

    private static func ranges(_ fields: HTTPFields, _ option: String?) throws(ODataError) -> [MediaType] {
        switch option?.lowercased() {
        case "json"?: return [MediaType("application", "json")]
        case "atom"?: return [MediaType("application", "atom+xml")]
        case "xml"?: return [MediaType("application", "xml")]
        case let other?: return MediaType(other).map { [$0] } ?? [MediaType("x", "unknown")]
        case nil: break
        }
        let accept = fields[values: .accept].joined(separator: ",")
        if accept.isEmpty { return [MediaType("*", "*")] }
        guard let list = MediaType.list(accept) else {
            throw ODataError(
                status: 400, code: "InvalidHeader", message: "Accept is not a list of media ranges.", target: "Accept")
        }
        return list
    }

    private static func format(_ range: MediaType, _ representation: Representation) -> PayloadFormat? {
        let isXML =
            range.matches("application", "xml") || range.matches("text", "xml")
            || range.matches("application", "atom+xml") || range.matches("application", "atomsvc+xml")
        if isXML { return .atom(.v2) }
        guard representation != .metadata, range.matches("application", "json") else { return nil }
        // Metadata levels are part of V4: a client that requests them does not understand the verbose format.
        let isVerbose = range.parameters.allSatisfy { ["odata", "charset"].contains($0.name) }
        guard isVerbose, range["odata"].map({ $0 == "verbose" }) ?? true else { return nil }
        return .verboseJSON(.v2)
    }
}
