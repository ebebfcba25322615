/// The numbers of the errors.
extension ObjectError {
    /// The number of the error: 1001 and up for objects, 2001 and up for synchronization, 3001 and up for names and
    /// values, 4001 and up for large attributes. An error never gets another number, and no number is used again.
    public var number: Int {
        switch self {
        case .objectNotFound: 1001
        case .attributeMissing: 1002
        case .notSaved: 1003
        case .alreadySubmitted: 1004
        case .packageMismatch: 2001
        case .invalidPackage: 2002
        case .synchronizationDisabled: 2003
        case .pendingChanges: 2004
        case .noLogService: 2005
        case .invalidQuery: 3001
        case .noSuchEntity: 3002
        case .abstractEntity: 3003
        case .noSuchAttribute: 3004
        case .noSuchOperation: 3005
        case .noSuchParameter: 3006
        case .missingArgument: 3007
        case .invalidType: 3008
        case .streamNotOpen: 4001
        case .streamNotClosed: 4002
        case .appendOnly: 4003
        case .overLength: 4004
        case .notAtCharacter: 4005
        }
    }
}
