import ErrorCodes
import ODataModel

/// Why no code can be generated.
public enum GeneratorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The container has no such set, singleton or operation import; these have names like it.
    case unknownSet(String, similar: [String])
    /// The metadata declare no such type.
    case unknownType(String)
    /// A name in the configuration is no Swift identifier, or a word of the language that cannot be one.
    case illegalName(String, for: String)
    /// A name in the configuration is taken by something else.
    case nameTaken(String, for: String)
    /// The number of files is out of range.
    case files(Int)
    /// The metadata declare nothing to generate code for.
    case nothingToGenerate
    /// The part of the metadata that is generated cannot be written and read again.
    case metadata(String)

    /// What is wrong and what was expected.
    public var description: String {
        switch self {
        case .unknownSet(let name, let similar):
            "The service has no entity set, singleton or operation \(name)"
                + (similar.isEmpty ? "." : "; there are \(similar.joined(separator: ", ")).")
        case .unknownType(let name): "The metadata declare no type \(name); types are given as Namespace.Name."
        case .illegalName(let name, let element): "The name \(name) for \(element) is no Swift identifier."
        case .nameTaken(let name, let element): "The name \(name) for \(element) is taken by something else."
        case .files(let count):
            "The types go into 1 to \(GeneratorConfiguration.maxFiles) files, not \(count)."
        case .nothingToGenerate: "The metadata declare no types, sets or operations."
        case .metadata(let reason): "The part of the metadata to generate cannot be kept: \(reason)"
        }
    }
}

extension GeneratorError: CodedError {
    /// `generator.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unknownSet: "unknown-set"
            case .unknownType: "unknown-type"
            case .illegalName: "illegal-name"
            case .nameTaken: "name-taken"
            case .files: "too-many-files"
            case .nothingToGenerate: "nothing"
            case .metadata: "metadata"
            }
        return ErrorCode(rawValue: "generator.\(name)")
    }

    /// What is asked for is wrong.
    public var failureKind: FailureKind { .request }
}
