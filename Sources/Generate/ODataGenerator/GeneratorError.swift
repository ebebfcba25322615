import ErrorCodes
import ODataModel

/// The reason why no code can be generated.
public enum GeneratorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The container has no set, singleton or operation import of this name; `similar` contains similar names.
    case unknownSet(String, similar: [String])
    /// The metadata contains no type of this name.
    case unknownType(String)
    /// A name in the configuration is not a valid Swift identifier, or is a keyword that cannot be used.
    case illegalName(String, for: String)
    /// A name in the configuration is already used by another element.
    case nameTaken(String, for: String)
    /// The number of files is out of range.
    case files(Int)
    /// The metadata contains no elements for which code could be generated.
    case nothingToGenerate
    /// The generated part of the metadata cannot be written and read again.
    case metadata(String)
    /// The object package has an error.
    case package(place: String, reason: String)
    /// The package has no synchronization group of this name.
    case unknownGroup(String, known: [String])
    /// A name cannot be used for a new package.
    case appName(String, reason: String)

    /// An explanation of the error with the expected values.
    public var description: String {
        switch self {
        case .unknownSet(let name, let similar):
            "The service has no entity set, singleton or operation \(name)"
                + (similar.isEmpty ? "." : "; there are \(similar.joined(separator: ", ")).")
        case .unknownType(let name): "The metadata declare no type \(name). Give the type as Namespace.Name."
        case .illegalName(let name, let element): "The name \(name) for \(element) is not a Swift identifier."
        case .nameTaken(let name, let element): "The name \(name) for \(element) is already used."
        case .files(let count):
            "The types go into 1 to \(GeneratorConfiguration.maxFiles) files, not \(count)."
        case .nothingToGenerate: "The metadata declare no types, sets or operations."
        case .package(let place, let reason): "\(place): \(reason)"
        case .unknownGroup(let name, let known):
            "The package has no synchronization group \(name); there are \(known.joined(separator: ", "))."
        case .metadata(let reason): "The part of the metadata to generate cannot be kept: \(reason)"
        case .appName(let name, let reason): "The app cannot be named '\(name)': \(reason)."
        }
    }
}

extension GeneratorError: CodedError {
    /// The code `generator.` with the name of the error, such as `generator.unknown-set`.
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
            case .package: "package"
            case .unknownGroup: "unknown-group"
            case .appName: "app-name"
            }
        return ErrorCode(rawValue: "generator.\(name)")
    }

    /// Always `FailureKind.request`: the configuration must be changed.
    public var failureKind: FailureKind { .request }
}
