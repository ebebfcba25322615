import ODataModel
import ODataQuery

/// A value of an earlier answer of a batch: `$1/Price` (OData Protocol 4.01, 11.7.6 *Referencing Values from Response
/// Bodies*).
///
/// Where it is used, a parameter alias stands for it until the answer is there.
///
/// ```swift
/// let (url, values) = BatchValueReference.replaced(in: "Products?$filter=Price lt $1/Price", ids: ["1"])
/// // Products?$filter=Price lt @batch0, and batch0 is the property Price of what 1 was answered with
/// ```
public struct BatchValueReference: Hashable, Sendable {
    /// The id of the earlier request.
    public let id: String
    /// The names of the properties that lead to the value within the answer; none for the answer itself.
    public let path: [String]

    /// Makes a reference.
    public init(id: String, path: [String] = []) {
        self.id = id
        self.path = path
    }

    /// The query of a URL with an alias for each reference, and the references by their aliases without `@`.
    ///
    /// - Parameters:
    ///   - url: the URL as a client wrote it, percent-encoded or not. References at its start are no values.
    ///   - ids: the ids of the requests before; anything else behind a dollar sign stays as it is.
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

    /// The reference that a text begins with, and how long it is. What is followed by an equals sign is an option.
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

    /// What stands behind a dollar sign in expressions: these are never references (11.7.6).
    private static let literals: Set<String> = ["it", "this", "root", "these", "count", "all"]

    /// The value.
    ///
    /// - Parameters:
    ///   - outcomes: the answers so far, by the ids of their requests.
    ///   - target: where the reference stands, for errors.
    /// - Throws: ``ODataError`` 400 for a reference to no request before, 424 for one to an answer that has no such value.
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

    /// That the answer has no such value.
    func missing(_ target: String) -> ODataError {
        ODataError(
            status: 424, code: "FailedDependency",
            message: "The answer to \(id) has no value \(path.joined(separator: "/")).", target: target)
    }
}
