import ErrorCodes
import ODataModel
import OfflineOData

/// An error of the objects of a package.
public enum ObjectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no object with the key, or the object is gone.
    case objectNotFound(type: QualifiedName, object: String)
    /// A row lacks an attribute that must not be null.
    case attributeMissing(type: QualifiedName, attribute: String)
    /// The object was never saved, so that it has no row.
    case notSaved(type: QualifiedName)
    /// The change is on its way to the service.
    case alreadySubmitted(object: String)
    /// The service's metadata do not fit the package.
    case packageMismatch(place: String, reason: String)
    /// The package in the generated code was edited or has an error.
    case invalidPackage(String)
    /// A query in the generated code cannot be read.
    case invalidQuery(String)

    /// The reason and the recovery.
    public var description: String {
        switch self {
        case .objectNotFound(let type, let object):
            "There is no \(object) of \(type) in the database. Synchronize, or check the key."
        case .attributeMissing(let type, let attribute):
            "A row of \(type) has no \(attribute), which must not be null. Correct the row at the service."
        case .notSaved(let type):
            "The object of \(type) was never saved. Save it first."
        case .alreadySubmitted(let object):
            "The change of \(object) is on its way and cannot be cancelled. Wait for its answer."
        case .packageMismatch(let place, let reason):
            "The package does not fit the service: \(place): \(reason) Generate the code again from the service's metadata."
        case .invalidPackage(let reason):
            "The package in the generated code is invalid: \(reason) Generate the code again."
        case .invalidQuery(let reason):
            "The query in the generated code is invalid: \(reason) Generate the code again."
        }
    }

    /// Translates the errors of the store.
    static func translating(_ error: any Error, object: @autoclosure () -> String) -> any Error {
        guard let error = error as? OfflineError, case .alreadySent = error else { return error }
        return ObjectError.alreadySubmitted(object: object())
    }
}

extension ObjectError: CodedError {
    /// The code `object.` with the name of the error, such as `object.not-found`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .objectNotFound: "not-found"
            case .attributeMissing: "attribute-missing"
            case .notSaved: "not-saved"
            case .alreadySubmitted: "already-submitted"
            case .packageMismatch: "package-mismatch"
            case .invalidPackage: "invalid-package"
            case .invalidQuery: "invalid-query"
            }
        return ErrorCode(rawValue: "object.\(name)")
    }

    /// The kind of the failure.
    public var failureKind: FailureKind {
        switch self {
        case .objectNotFound: .missing
        case .attributeMissing: .answer
        case .notSaved, .invalidPackage, .invalidQuery: .request
        case .alreadySubmitted: .transient
        case .packageMismatch: .unsupported
        }
    }

    /// The class of the predecessor's Object API; `nil` if it had none.
    public var legacyName: String? {
        switch self {
        case .objectNotFound: "SUPObjectNotFoundException"
        case .attributeMissing, .notSaved: "SUPPersistenceException"
        case .alreadySubmitted, .packageMismatch, .invalidPackage, .invalidQuery: nil
        }
    }
}
