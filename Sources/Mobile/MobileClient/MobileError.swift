public import DataVault
public import ErrorCodes
import MobileProtocol
import ODataHTTP
import ODataService

/// An error of the device side of the mobile services.
///
/// No case contains a secret, so errors may be logged unchanged.
///
/// ```swift
/// do {
///     try await session.registration.register()
/// } catch MobileError.unreachable(_, _, let isRetried) where isRetried {
///     try await session.registration.waitUntilReady(timeout: .seconds(300))
/// }
/// ```
public enum MobileError: Error, Hashable, Sendable {
    /// A parameter is empty (70004).
    case emptyParameter(String)
    /// The text is not an address of a mobile server.
    case invalidAddress(String)
    /// Credentials would leave this machine without TLS; see ``ConnectionProfile``.
    case plainHTTP(host: String)
    /// A configuration cannot be read, or lacks a value.
    case invalidConfiguration(detail: String)
    /// The server offers several applications, and the configuration names none.
    case ambiguousApplication(names: [String])
    /// The server has no such application.
    case unknownApplication(String)
    /// The application has no such security configuration, or several and the profile names none (14850).
    case unknownSecurityConfiguration(String)
    /// The app is older than the server accepts.
    case outdatedApp(minimum: String)

    /// The server cannot be reached. With `isRetried`, the library repeats the attempt by itself.
    case unreachable(host: String, reason: String, isRetried: Bool)
    /// The certificate of the server is not trusted.
    case untrusted(host: String, reason: String)
    /// The server answered in a form that is no answer of a mobile server.
    case invalidAnswer(detail: String)
    /// The server refused a request for another reason; `code` is its own.
    case refused(status: Int, code: String, message: String)
    /// The server wants a pause, in seconds.
    case tooManyRequests(seconds: Int?)

    /// The device is not registered, or the server has removed the registration (70001).
    case notRegistered
    /// The id belongs to another device or user (14855).
    case alreadyRegistered
    /// The registration, or the activation code, belongs to another user (14853).
    case wrongUser
    /// The user name, the password or the token is wrong.
    case signInRefused
    /// The user gave up the sign-in.
    case signInCancelled
    /// The sign-in failed for another reason.
    case signInFailed(reason: String)
    /// The activation code is unknown, used or expired (580).
    case activationCodeInvalid
    /// The activation code was used by another device (579).
    case activationCodeOfAnotherDevice
    /// The application registers only devices with an activation code (14851).
    case automaticRegistrationDisabled
    /// The registration waits for the text of an image; see ``Registration/answer(captcha:)``.
    case captchaNeeded(CaptchaImage)
    /// Another server or application needs ``Registration/unregister()`` first.
    case otherServer(String)

    /// A setting is read-only, so no setting of the call was changed (70005).
    case settingNotEditable(String)
    /// The registration has no setting of this name (70003 for the push endpoint).
    case settingMissing(String)
    /// The server lacks a capability, so no request was sent.
    case unsupported(String)

    /// The app is locked.
    case locked(LockReason)
    /// The data of the app on this device were erased.
    case wiped
    /// The user gave no passcode.
    case passcodeCancelled
    /// The passcode is wrong; `attemptsLeft` more wrong ones destroy the data, `nil` means no limit.
    case wrongPasscode(attemptsLeft: Int?)
    /// The passcode violates the policy; the violations are in the order of their codes 50 to 57.
    case weakPasscode([PasswordViolation])
    /// No user with this name was onboarded on this device.
    case unknownUser(String?)
    /// The user was onboarded on this device before; call ``Onboarding/restore(user:)``.
    case alreadyOnboarded(String?)
    /// The state on this device cannot be read or written.
    case device(reason: String)
    /// The stores cannot be opened.
    case store(reason: String)

    /// The time of a wait has passed; the work goes on.
    case timedOut
    /// The task was cancelled.
    case cancelled
}

extension MobileError: CustomStringConvertible {
    /// A description of the problem and, if there is one, of its remedy.
    public var description: String {
        switch self {
        case .emptyParameter(let name): "Cannot connect: \(name) is empty. Pass a value."
        case .invalidAddress(let text): "\(text.debugDescription) is not the address of a mobile server."
        case .plainHTTP(let host):
            "Credentials are not sent to \(host) without https. Use an https address."
        case .invalidConfiguration(let detail): "The configuration cannot be used: \(detail)"
        case .ambiguousApplication(let names):
            "The server has several applications. Name one of them: \(names.joined(separator: ", "))."
        case .unknownApplication(let name): "The server has no application \(name)."
        case .unknownSecurityConfiguration(let name):
            "The application has no security configuration \(name), or several of which one must be named."
        case .outdatedApp(let minimum): "The server needs version \(minimum) of the app. Update the app."
        case .unreachable(let host, let reason, let isRetried):
            "Cannot reach \(host): \(reason)\(isRetried ? " The attempt is repeated automatically." : "")"
        case .untrusted(let host, let reason): "The certificate of \(host) is not trusted: \(reason)"
        case .invalidAnswer(let detail): "The server's answer cannot be understood: \(detail)"
        case .refused(let status, let code, let message):
            "The server refused the request (\(status) \(code)): \(message)"
        case .tooManyRequests(let seconds):
            "The server wants a pause\(seconds.map { " of \($0) seconds" } ?? ""). Try again later."
        case .notRegistered: "The device is not registered at the server. Register it first."
        case .alreadyRegistered: "The id is registered for another device or user."
        case .wrongUser: "The registration belongs to another user."
        case .signInRefused: "The server did not accept the user name, password or token."
        case .signInCancelled: "The sign-in was cancelled."
        case .signInFailed(let reason): "The sign-in failed: \(reason)"
        case .activationCodeInvalid: "The activation code is unknown, used or expired. Ask for another one."
        case .activationCodeOfAnotherDevice: "The activation code was used by another device. Ask for another one."
        case .automaticRegistrationDisabled: "The application needs an activation code. Ask its operator for one."
        case .captchaNeeded: "The registration waits for the text of an image."
        case .otherServer(let url): "\(url) is another server. Remove the registration first."
        case .settingNotEditable(let name): "The setting \(name) is read-only; nothing was changed."
        case .settingMissing(let name): "The server has no setting \(name) for this device."
        case .unsupported(let capability): "The server does not support \(capability)."
        case .locked(let reason): "The app is locked: \(reason)."
        case .wiped: "The data of the app on this device were erased. Set up the app again."
        case .passcodeCancelled: "No passcode was entered."
        case .wrongPasscode(nil): "The passcode is wrong."
        case .wrongPasscode(let left?): "The passcode is wrong. After \(left) more wrong ones the data are erased."
        case .weakPasscode(let violations):
            "The passcode does not meet the policy: \(violations.map(\.description).joined(separator: "; "))"
        case .unknownUser(let user): "\(user ?? "This user") was not set up on this device."
        case .alreadyOnboarded(let user): "\(user ?? "This user") was set up on this device before."
        case .device(let reason): "The state of the app on this device cannot be used: \(reason)"
        case .store(let reason): "The offline store cannot be opened: \(reason)"
        case .timedOut: "The server did not answer in time. The attempt goes on."
        case .cancelled: "The operation was cancelled."
        }
    }
}

extension MobileError: CodedError {
    /// `mobile.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .emptyParameter: "empty-parameter"
            case .invalidAddress: "invalid-address"
            case .plainHTTP: "plain-http"
            case .invalidConfiguration: "invalid-configuration"
            case .ambiguousApplication: "ambiguous-application"
            case .unknownApplication: "unknown-application"
            case .unknownSecurityConfiguration: "unknown-security"
            case .outdatedApp: "outdated-app"
            case .unreachable: "unreachable"
            case .untrusted: "untrusted"
            case .invalidAnswer: "invalid-answer"
            case .refused: "refused"
            case .tooManyRequests: "too-many-requests"
            case .notRegistered: "not-registered"
            case .alreadyRegistered: "already-registered"
            case .wrongUser: "wrong-user"
            case .signInRefused: "sign-in-refused"
            case .signInCancelled: "sign-in-cancelled"
            case .signInFailed: "sign-in-failed"
            case .activationCodeInvalid: "activation-code-invalid"
            case .activationCodeOfAnotherDevice: "activation-code-used"
            case .automaticRegistrationDisabled: "activation-code-needed"
            case .captchaNeeded: "captcha-needed"
            case .otherServer: "other-server"
            case .settingNotEditable: "setting-read-only"
            case .settingMissing: "setting-missing"
            case .unsupported: "unsupported"
            case .locked: "locked"
            case .wiped: "wiped"
            case .passcodeCancelled: "passcode-cancelled"
            case .wrongPasscode: "wrong-passcode"
            case .weakPasscode: "weak-passcode"
            case .unknownUser: "unknown-user"
            case .alreadyOnboarded: "already-onboarded"
            case .device: "device"
            case .store: "store"
            case .timedOut: "timed-out"
            case .cancelled: "cancelled"
            }
        return ErrorCode(rawValue: "mobile.\(name)")
    }

    /// The kind of remedy.
    public var failureKind: FailureKind {
        switch self {
        case .unreachable: .connection
        case .tooManyRequests, .timedOut: .transient
        case .untrusted, .plainHTTP: .trust
        case .signInRefused, .signInFailed, .wrongUser, .activationCodeInvalid, .activationCodeOfAnotherDevice,
            .automaticRegistrationDisabled, .captchaNeeded, .locked, .wrongPasscode, .weakPasscode:
            .credentials
        case .signInCancelled, .passcodeCancelled, .cancelled: .cancelled
        case .unknownApplication, .unknownSecurityConfiguration, .notRegistered, .settingMissing, .unknownUser,
            .wiped:
            .missing
        case .unsupported, .outdatedApp: .unsupported
        case .invalidAnswer: .answer
        case .refused(let status, _, _): status >= 500 ? .service : .request
        case .device, .store: .device
        case .emptyParameter, .invalidAddress, .invalidConfiguration, .ambiguousApplication, .alreadyRegistered,
            .otherServer, .settingNotEditable, .alreadyOnboarded:
            .request
        }
    }
}

extension MobileError {
    /// Creates the error of an answer of the device API.
    init(_ error: ODataError, profile: ConnectionProfile) {
        switch MobileErrorName(rawValue: error.code) {
        case .unauthorized: self = .signInRefused
        case .emptyParameter: self = .emptyParameter(error.target ?? "a parameter")
        case .applicationUnknown: self = .unknownApplication(profile.application)
        case .securityConfigurationUnknown:
            self = .unknownSecurityConfiguration(profile.securityConfiguration ?? "")
        case .registrationUnknown: self = .notRegistered
        case .alreadyRegistered: self = .alreadyRegistered
        case .wrongUserForRegistration: self = .wrongUser
        case .activationCodeInvalid: self = .activationCodeInvalid
        case .activationCodeOfAnotherDevice: self = .activationCodeOfAnotherDevice
        case .automaticRegistrationDisabled: self = .automaticRegistrationDisabled
        case .settingNotEditable: self = .settingNotEditable(error.target ?? "")
        case .deviceLocked: self = .locked(.order)
        case .deviceWiped: self = .locked(.order)
        case .plainHTTP: self = .plainHTTP(host: profile.host)
        case .tooManyRequests: self = .tooManyRequests(seconds: error.retryAfter)
        case .captchaRequired:
            self =
                CaptchaImage(error).map { .captchaNeeded($0) } ?? .invalidAnswer(detail: "a CAPTCHA without an image")
        default:
            switch error.status {
            case 401: self = .signInRefused
            case 429, 503: self = .tooManyRequests(seconds: error.retryAfter)
            default: self = .refused(status: error.status, code: error.code, message: error.message)
            }
        }
    }

    /// Creates the error of a failed exchange.
    init(_ error: any Error, host: String) {
        switch error {
        case let error as MobileError: self = error
        case is CancellationError: self = .cancelled
        case TransportError.untrustedCertificate(let host, let reason): self = .untrusted(host: host, reason: reason)
        case TransportError.plainHTTP(let host): self = .plainHTTP(host: host)
        case TransportError.malformed(_, let reason), TransportError.tooLarge(_, let reason):
            self = .invalidAnswer(detail: reason)
        case TransportError.cannotConnect(let host, let reason), TransportError.connectionLost(let host, let reason):
            self = .unreachable(host: host, reason: reason, isRetried: false)
        case let error as TransportError:
            self = .unreachable(host: host, reason: "\(error)", isRetried: false)
        case let error as DataVaultError: self = MobileError(error)
        default: self = .unreachable(host: host, reason: "\(error)", isRetried: false)
        }
    }

    /// Creates the error of a vault.
    init(_ error: DataVaultError) {
        switch error {
        case .wrongPassword(_, let left): self = .wrongPasscode(attemptsLeft: left)
        case .incompatiblePassword(_, let violations): self = .weakPasscode(violations)
        case .destroyed: self = .wiped
        case .locked: self = .locked(.passcode)
        case .cancelled: self = .cancelled
        default: self = .device(reason: error.description)
        }
    }
}

/// The reason for which an app is locked.
///
/// ```swift
/// if case .locked(let reason) = error, reason == .order { show("Your operator has locked this device.") }
/// ```
public enum LockReason: String, Hashable, Sendable, Codable {
    /// The passcode has not been entered.
    case passcode
    /// An operator has locked the device.
    case order
    /// The device was offline for longer than the policy allows.
    case offlineLimit
    /// The app went into the background.
    case background
}

extension LockReason: CustomStringConvertible {
    /// The reason as a clause.
    public var description: String {
        switch self {
        case .passcode: "enter the passcode"
        case .order: "the operator has locked this device"
        case .offlineLimit: "the device was offline for too long"
        case .background: "the app was in the background"
        }
    }
}
