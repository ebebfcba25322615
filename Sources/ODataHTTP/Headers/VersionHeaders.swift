import HTTPTypes
import ODataModel
import ODataService

/// The versions in the headers of a request (OData Protocol 4.01, 8.1.5 and 8.2.7).
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
