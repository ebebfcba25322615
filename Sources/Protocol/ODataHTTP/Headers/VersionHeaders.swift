import HTTPTypes
import ODataModel
import ODataService

/// The version header fields of a request (OData Protocol 4.01, 8.1.5 and 8.2.7).
struct VersionHeaders {
    var version: String?
    var maxVersion: String?

    init(version: String?, maxVersion: String?) {
        self.version = version
        self.maxVersion = maxVersion
    }

    init(_ fields: HTTPFields) {
        self.init(version: fields[.odataVersion], maxVersion: fields[.odataMaxVersion])
    }

    init(_ fields: RequestFields) {
        self.init(version: fields.odataVersion, maxVersion: fields.odataMaxVersion)
    }

    /// Returns the version of the response.
    ///
    /// - Throws: 400 for a version other than 4.0 and 4.01, and for a maximum version below 4.0.
    func responseVersion() throws(ODataError) -> ODataVersion {
        if let version, !isUnderstood(version) {
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

    /// Whether the client states that it understands 4.01.
    ///
    /// A client that states no version gets 4.01 (Protocol 8.2.7), but with control information in the notation of
    /// 4.0.
    var stateV401: Bool { maxVersion.flatMap(parse) == .v401 || version.flatMap(parse) == .v401 }

    /// The version of the request body: the greatest supported one unless the client states another (Protocol
    /// 8.1.5).
    var payloadVersion: ODataVersion { (version ?? maxVersion).flatMap(parse) ?? .v401 }

    /// Returns whether requests of a version are supported.
    private func isUnderstood(_ version: String) -> Bool {
        guard let (major, minor) = numbers(version) else { return false }
        return major == 4 && minor <= 1
    }

    /// Returns the greatest known version that is not above a stated version; `.v3` represents all versions before
    /// 4.0.
    private func parse(_ text: String) -> ODataVersion? {
        guard let (major, minor) = numbers(text) else { return nil }
        if major < 4 { return .v3 }
        return major == 4 && minor == 0 ? .v4 : .v401
    }

    private func numbers(_ text: String) -> (major: Int, minor: Int)? {
        // The most frequent values.
        if text == "4.0" { return (4, 0) }
        if text == "4.01" { return (4, 1) }
        let parts = text.split(separator: ";").first.map(String.init) ?? text
        let numbers = HeaderTokens.trim(parts).split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, let major = Int(numbers[0]), let minor = Int(numbers[1]), major >= 1, minor >= 0
        else { return nil }
        return (major, minor)
    }
}
