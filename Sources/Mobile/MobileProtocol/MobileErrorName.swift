/// The codes of OData errors that the mobile server itself answers with, each with its HTTP status.
///
/// A back end never speaks with these codes: the server replaces them in answers of destinations
/// (`design-review.md` 10).
public enum MobileErrorName: String, Hashable, Sendable, CaseIterable {
    /// A property has an invalid value; the error names it.
    case invalidProperty = "InvalidProperty"
    /// A token cannot be read.
    case tokenInvalid = "TokenInvalid"
    /// A parameter is empty.
    case emptyParameter = "EmptyParameter"
    /// The request needs credentials.
    case unauthorized = "Unauthorized"
    /// The device proof is missing, invalid or was used before.
    case proofRequired = "ProofRequired"
    /// The registration needs a solved CAPTCHA.
    case captchaRequired = "CaptchaRequired"
    /// The activation code is unknown, used or expired.
    case activationCodeInvalid = "ActivationCodeInvalid"
    /// The activation code belongs to another device.
    case activationCodeOfAnotherDevice = "ActivationCodeOfAnotherDevice"
    /// The registration belongs to another user.
    case wrongUserForRegistration = "WrongUserForRegistration"
    /// The application takes no registrations of unknown users.
    case automaticRegistrationDisabled = "AutomaticRegistrationDisabled"
    /// A setting is read-only.
    case settingNotEditable = "SettingNotEditable"
    /// An operator has locked the device.
    case deviceLocked = "DeviceLocked"
    /// An operator has ordered that the device be wiped.
    case deviceWiped = "DeviceWiped"
    /// The user has no role for the operation.
    case roleMissing = "RoleMissing"
    /// The policies do not allow the upload.
    case uploadsDisabled = "UploadsDisabled"
    /// Credentials over plain HTTP outside of this machine are refused.
    case plainHTTP = "PlainHTTP"
    /// The server has no such application.
    case applicationUnknown = "ApplicationUnknown"
    /// The application has no such security configuration, or several and the request names none.
    case securityConfigurationUnknown = "SecurityConfigurationUnknown"
    /// The server has no such registration.
    case registrationUnknown = "RegistrationUnknown"
    /// The application has no such bundle.
    case bundleUnknown = "BundleUnknown"
    /// The id is registered with another key or user.
    case alreadyRegistered = "AlreadyRegistered"
    /// It is unknown whether the request was executed.
    case outcomeUnknown = "OutcomeUnknown"
    /// The delta token has expired.
    case deltaTokenExpired = "DeltaTokenExpired"
    /// The entity was changed meanwhile.
    case conflict = "Conflict"
    /// The request needs `If-Match`.
    case preconditionRequired = "PreconditionRequired"
    /// The body is too large.
    case tooLarge = "TooLarge"
    /// The media type is not supported.
    case unsupportedContent = "UnsupportedContent"
    /// The request breaks a policy.
    case policyViolated = "PolicyViolated"
    /// Too many requests.
    case tooManyRequests = "TooManyRequests"
    /// The server is busy.
    case busy = "Busy"

    /// The HTTP status of the error.
    public var status: Int {
        switch self {
        case .invalidProperty, .tokenInvalid, .emptyParameter: 400
        case .unauthorized: 401
        case .proofRequired, .captchaRequired, .activationCodeInvalid, .activationCodeOfAnotherDevice,
            .wrongUserForRegistration, .automaticRegistrationDisabled, .settingNotEditable, .deviceLocked,
            .deviceWiped, .roleMissing, .uploadsDisabled, .plainHTTP:
            403
        case .applicationUnknown, .securityConfigurationUnknown, .registrationUnknown, .bundleUnknown: 404
        case .alreadyRegistered, .outcomeUnknown: 409
        case .deltaTokenExpired: 410
        case .conflict: 412
        case .tooLarge: 413
        case .unsupportedContent: 415
        case .policyViolated: 422
        case .preconditionRequired: 428
        case .tooManyRequests: 429
        case .busy: 503
        }
    }

    /// The number in the older products' HTTP channel; `nil` if there was none.
    public var legacyNumber: Int? {
        switch self {
        case .registrationUnknown: 70001
        case .emptyParameter: 70004
        case .settingNotEditable: 70005
        case .bundleUnknown: 70007
        default: nil
        }
    }
}
