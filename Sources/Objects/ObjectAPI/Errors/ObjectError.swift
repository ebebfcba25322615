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

    // MARK: Synchronization

    /// The gate for synchronizations is closed.
    case synchronizationDisabled
    /// The package has changes that the service does not have.
    case pendingChanges
    /// The service has no set of log records.
    case noLogService

    // MARK: Names

    /// The package has no entity type with the name.
    case noSuchEntity(name: String)
    /// The entity type is abstract, so that it has no objects of its own.
    case abstractEntity(name: String)
    /// The type has no attribute with the name.
    case noSuchAttribute(name: String, of: String)
    /// The type, or the package, has no operation with the name.
    case noSuchOperation(name: String, of: String)
    /// The operation, or the query, has no parameter with the name.
    case noSuchParameter(name: String, of: String)
    /// An argument is missing that must have a value.
    case missingArgument(name: String, of: String)
    /// A value has another type than the attribute or parameter.
    case invalidType(name: String, expected: String)

    // MARK: Large attributes

    /// A large attribute is not open for the step: reading and seeking need a reader, writing needs a writer.
    case streamNotOpen(attribute: String)
    /// A large attribute is open, although the step needs a closed one.
    case streamNotClosed(attribute: String)
    /// Bytes were written before the end of the value. The database never throws it; a platform of the predecessor did.
    case appendOnly(attribute: String)
    /// More or fewer bytes were written than announced.
    case overLength(attribute: String, announced: Int64)
    /// A position in a large text is within a character.
    case notAtCharacter(attribute: String, position: Int64)

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
        case .synchronizationDisabled:
            "The package is not synchronized, because synchronization is switched off. Switch it on, then try again."
        case .pendingChanges:
            "The package is still subscribed, because it has changes that the service does not have. Synchronize, or cancel them."
        case .noLogService:
            "Log records cannot be sent, because the service has no set for them. Read them on this device."
        case .noSuchEntity(let name): "The package has no entity type \(name). Check the name against the metadata."
        case .abstractEntity(let name): "The entity type \(name) is abstract. Name a type that derives from it."
        case .noSuchAttribute(let name, let type):
            "\(type) has no attribute \(name). Check the name against the metadata."
        case .noSuchOperation(let name, let type):
            "\(type) has no operation \(name). Check the name against the metadata."
        case .noSuchParameter(let name, let operation):
            "\(operation) has no parameter \(name). Check the name against the metadata."
        case .missingArgument(let name, let operation):
            "\(operation) needs a value for \(name). Give it one."
        case .invalidType(let name, let expected): "The value of \(name) is no \(expected). Give a value of that type."
        case .streamNotOpen(let attribute): "\(attribute) is not open for this. Open it first."
        case .streamNotClosed(let attribute): "\(attribute) is open. Close it first."
        case .appendOnly(let attribute): "Bytes can only be appended to \(attribute). Write the whole value again."
        case .overLength(let attribute, let announced):
            "\(attribute) was announced with \(announced) bytes, and gets another number. Announce the right number, or none."
        case .notAtCharacter(let attribute, let position):
            "No character of \(attribute) begins at byte \(position). Use a position that a read ended at."
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
            case .synchronizationDisabled: "synchronization-disabled"
            case .pendingChanges: "pending-changes"
            case .noLogService: "no-log-service"
            case .noSuchEntity: "no-such-entity"
            case .abstractEntity: "abstract-entity"
            case .noSuchAttribute: "no-such-attribute"
            case .noSuchOperation: "no-such-operation"
            case .noSuchParameter: "no-such-parameter"
            case .missingArgument: "missing-argument"
            case .invalidType: "invalid-type"
            case .streamNotOpen: "stream-not-open"
            case .streamNotClosed: "stream-not-closed"
            case .appendOnly: "append-only"
            case .overLength: "over-length"
            case .notAtCharacter: "not-at-character"
            }
        return ErrorCode(rawValue: "object.\(name)")
    }

    /// The kind of the failure.
    public var failureKind: FailureKind {
        switch self {
        case .objectNotFound: .missing
        case .attributeMissing: .answer
        case .notSaved, .invalidPackage, .invalidQuery, .noSuchEntity, .abstractEntity, .noSuchAttribute,
            .noSuchOperation, .noSuchParameter, .missingArgument, .invalidType, .streamNotOpen, .streamNotClosed,
            .overLength, .notAtCharacter:
            .request
        case .appendOnly, .noLogService: .unsupported
        case .pendingChanges: .request
        case .alreadySubmitted, .synchronizationDisabled: .transient
        case .packageMismatch: .unsupported
        }
    }

    /// The class of the predecessor's Object API; `nil` if it had none.
    public var legacyName: String? {
        switch self {
        case .objectNotFound: "SUPObjectNotFoundException"
        case .notSaved: "SUPObjectNotSavedException"
        case .attributeMissing: "SUPPersistenceException"
        case .noSuchEntity: "SUPNoSuchClassException"
        case .abstractEntity: "SUPAbstractClassException"
        case .noSuchAttribute: "SUPNoSuchAttributeException"
        case .noSuchOperation: "SUPNoSuchOperationException"
        case .noSuchParameter: "SUPNoSuchParameterException"
        case .invalidType: "SUPInvalidDataTypeException"
        case .missingArgument, .synchronizationDisabled, .pendingChanges, .noLogService: "SUPSynchronizeException"
        case .streamNotOpen: "SUPStreamNotOpenException"
        case .streamNotClosed: "SUPStreamNotClosedException"
        case .appendOnly: "SUPWriteAppendOnlyException"
        case .overLength: "SUPWriteOverLengthException"
        case .notAtCharacter: nil
        case .alreadySubmitted, .packageMismatch, .invalidPackage, .invalidQuery: nil
        }
    }
}
