import ODataModel
import ODataQuery
import ODataService

/// Checks of references to other entities in a request.
extension RequestDecoder {
    /// Checks that all references of a request are to entities of this service (OData Protocol 4.01, 4.1 and
    /// 11.4.2.1).
    ///
    /// - Throws: ``ODataError`` 400 for a reference to another host, or to a resource other than an entity.
    func checkReferences(of request: ODataRequest) throws(ODataError) {
        if let id = request.url.options.id { try checkReference(id, target: "$id") }
        for reference in request.body.references { try checkReference(reference) }
    }

    private func checkReference(_ reference: String, target: String? = nil) throws(ODataError) {
        func refuse(_ reason: String) -> ODataError {
            ODataError(
                status: 400, code: "InvalidReference",
                message: "\"\(reference.prefix(200))\" \(reason). A reference names an entity below \(publicRoot).",
                target: target)
        }
        // A reference without a scheme has the scheme of the service.
        let absolute = reference.hasPrefix("//") ? "http:\(reference)" : reference
        guard !Self.hasForeignScheme(absolute), let relative = relative(absolute) else {
            throw refuse("is of another service")
        }
        let path = Self.withoutLeadingDots(relative)
        // The id of another request in a batch refers to its entity. The provider checks single segments, since it
        // also knows the key types.
        guard !path.hasPrefix("$"), Self.hasSeveralSegments(path) else { return }
        guard let resource = try? bind(path, references: [:]).resolved.bound.resource, case .entity = resource.target
        else {
            throw refuse("leads to no entity")
        }
    }

    /// Returns whether a text begins with a scheme other than http and https, such as `urn:`.
    private static func hasForeignScheme(_ text: String) -> Bool {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        guard scheme.first?.isLetter == true, text.dropFirst(scheme.count).first == ":" else { return false }
        return !["http", "https"].contains(scheme.lowercased()) || !text.dropFirst(scheme.count).hasPrefix("://")
            || text.dropFirst(scheme.count + 3).prefix { $0 != "/" }.contains("@")
    }

    /// Returns a relative reference without leading `.` and `..` segments.
    private static func withoutLeadingDots(_ text: String) -> String {
        var rest = text[...]
        while true {
            if rest.hasPrefix("../") {
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("./") {
                rest = rest.dropFirst(2)
            } else {
                return String(rest)
            }
        }
    }

    /// Returns whether a path contains a slash outside quotes before its end.
    private static func hasSeveralSegments(_ path: String) -> Bool {
        var isQuoted = false
        for byte in path.utf8.dropLast() {
            if byte == UInt8(ascii: "'") { isQuoted.toggle() }
            if byte == UInt8(ascii: "/"), !isQuoted { return true }
        }
        return false
    }
}
