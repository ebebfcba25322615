import ODataModel
import ODataQuery

/// A reference to a value in an earlier response of a batch: `$1/Price` (OData Protocol 4.01, 11.7.6 *Referencing
/// Values from Response Bodies*).
///
/// A parameter alias takes the place of the reference until the response is known.
///
/// ```swift
/// let (url, values) = BatchValueReference.replaced(in: "Products?$filter=Price lt $1/Price", ids: ["1"])
/// // Products?$filter=Price lt @batch0, and batch0 is the property Price in the response to request 1
/// ```
public struct BatchValueReference: Hashable, Sendable {
    /// The id of the earlier request.
    public let id: String
    /// The property names that lead to the value within the response; empty for the whole response.
    public let path: [String]

    /// Creates a reference.
    public init(id: String, path: [String] = []) {
        self.id = id
        self.path = path
    }

    /// Replaces the references in the query of a URL by aliases, and returns the references by alias without `@`.
    ///
    /// - Parameters:
    ///   - url: the URL as the client wrote it, percent-encoded or not. A reference at its start is an address, not
    ///     a value.
    ///   - ids: the ids of the earlier requests. Other names after a dollar sign stay as they are.
    public static func replaced(
        in url: String, ids: some Collection<String>
    ) -> (url: String, values: [String: BatchValueReference]) {
        guard !ids.isEmpty, let mark = url.firstIndex(of: "?"), url[mark...].contains("$") else { return (url, [:]) }
        var values: [String: BatchValueReference] = [:]
        var result = String(url[...mark])
        var rest = url[url.index(after: mark)...]
        var isQuoted = false
        while let scalar = rest.unicodeScalars.first {
            if scalar == "'" || rest.utf8.starts(with: "%27".utf8) { isQuoted.toggle() }
            if scalar == "$", !isQuoted, let reference = reference(Substring(rest.unicodeScalars.dropFirst()), ids) {
                let alias = "batch\(values.count)"
                values[alias] = reference.value
                result += "@\(alias)"
                rest = Substring(rest.unicodeScalars.dropFirst(1 + reference.length))
                continue
            }
            result.unicodeScalars.append(scalar)
            rest.unicodeScalars.removeFirst()
        }
        return values.isEmpty ? (url, [:]) : (result, values)
    }

    /// Returns the reference at the start of a text and its length; `nil` if an equals sign follows, which marks an
    /// option.
    private static func reference(
        _ text: Substring, _ ids: some Collection<String>
    ) -> (value: BatchValueReference, length: Int)? {
        let written = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~/".contains($0)) }
        let parts = written.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let id = parts.first, ids.contains(id), !literals.contains(id), !parts.dropFirst().contains(""),
            text.dropFirst(written.count).first != "="
        else { return nil }
        return (BatchValueReference(id: id, path: Array(parts.dropFirst())), written.count)
    }

    /// The names after a dollar sign that are part of the expression language and never references (11.7.6).
    private static let literals: Set<String> = ["it", "this", "root", "these", "count", "all"]

    /// Returns the referenced value.
    ///
    /// - Parameters:
    ///   - outcomes: the responses so far, by the ids of their requests.
    ///   - target: the place of the reference, for errors.
    /// - Throws: ``ODataError`` 400 for a reference to an unknown request, 424 for a reference to a missing value.
    public func value(
        after outcomes: [String: Result<ODataResponse, ODataError>], target: String
    ) throws(ODataError) -> ODataValue {
        guard let outcome = outcomes[id] else {
            throw ODataError(
                status: 400, code: "InvalidBatch", message: "\(target) refers to \(id), which is no request before.",
                target: target)
        }
        guard case .success(let response) = outcome else { throw missing(target) }
        var value: ODataValue
        switch response.body {
        case .entity(let entity): value = .complex(entity)
        case .value(let given, _): value = given
        case .count(let count): value = .integer(count)
        case .none: value = .null
        default: throw missing(target)
        }
        for name in path {
            guard case .complex(let holder) = value, let next = holder[name] else { throw missing(target) }
            value = next
        }
        if case .complex = value { throw missing(target) }
        return value
    }

    /// Returns the error for a response without the referenced value.
    func missing(_ target: String) -> ODataError {
        ODataError(
            status: 424, code: "FailedDependency",
            message: "The answer to \(id) has no value \(path.joined(separator: "/")).", target: target)
    }
}
