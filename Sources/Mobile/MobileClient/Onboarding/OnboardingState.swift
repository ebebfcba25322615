public import DataVault
public import ODataClient
public import ODataHTTP
public import Secrets

/// The steps from the first start of an app to working stores.
///
/// ```swift
/// if case .failed(let error, let step) = state { show("\(step): \(error)") }
/// ```
public enum OnboardingStep: String, Sendable, Hashable, Codable, CaseIterable {
    /// The server and its application are found.
    case discover
    /// The certificate of the server is checked.
    case trust
    /// The user signs in.
    case signIn
    /// The device is registered.
    case register
    /// Policies and features are read.
    case policies
    /// The passcode is chosen or entered.
    case passcode
    /// The stores are opened.
    case stores
}

/// The state of an ``Onboarding``.
///
/// ```swift
/// for await state in onboarding.states {
///     if case .locked(let reason) = state { show("Locked: \(reason)") }
/// }
/// ```
public enum OnboardingState: Sendable, Hashable {
    /// Nothing is known yet.
    case start
    /// The server is known.
    case discovered(ConnectionProfile)
    /// The certificate of the server is accepted.
    case trusted
    /// The user has signed in.
    case signedIn(subject: String)
    /// The device is being registered.
    case registering
    /// A person has to read an image; see ``Onboarding/resume(captcha:)``.
    case challenged(CaptchaImage)
    /// The device is registered.
    case registered(id: String)
    /// The policies are known.
    case policiesKnown
    /// The vault is open.
    case unlocked
    /// The stores are open.
    case ready
    /// The app is locked.
    case locked(LockReason)
    /// The data of the app were erased.
    case wiped
    /// A step has failed. The state before it is durable, and the next call goes on from there.
    case failed(MobileError, from: OnboardingStep)
}

/// The questions of an ``Onboarding``, which the screens of an app answer. The answer `nil` means that the user gave
/// up.
///
/// ```swift
/// struct Screens: OnboardingInteraction {
///     func signIn(_ request: SignInRequest) async throws -> SignInAnswer? {
///         guard let credentials = await ask("Sign in", request.failure) else { return nil }
///         return .basic(user: credentials.user, password: Secret(credentials.password))
///     }
///     func passcode(_ purpose: PasscodePurpose, policy: PasswordPolicy) async -> Secret<String>? {
///         await askPasscode(purpose, policy)
///     }
/// }
/// ```
public protocol OnboardingInteraction: Sendable {
    /// Asks the user to sign in.
    func signIn(_ request: SignInRequest) async throws -> SignInAnswer?
    /// Decides about a certificate that no authority vouches for; by default, it is rejected.
    func trust(_ question: ServerTrustQuestion) async -> Bool
    /// Asks for the text of an image; `nil` to answer later with ``Onboarding/resume(captcha:)``, as by default.
    func solve(_ image: CaptchaImage) async -> String?
    /// Asks for the passcode.
    func passcode(_ purpose: PasscodePurpose, policy: PasswordPolicy) async -> Secret<String>?
}

extension OnboardingInteraction {
    /// Rejects the certificate.
    public func trust(_ question: ServerTrustQuestion) async -> Bool { false }
    /// Leaves the image for later.
    public func solve(_ image: CaptchaImage) async -> String? { nil }
}

/// A question for the sign-in.
///
/// ```swift
/// func signIn(_ request: SignInRequest) async throws -> SignInAnswer? {
///     if let failure = request.failure { show(failure.description) }
///     return await askUser(request.methods)
/// }
/// ```
public struct SignInRequest: Sendable {
    /// The application.
    public let profile: ConnectionProfile
    /// The ways to sign in: one, unless the app has to choose.
    public let methods: [SignInMethod]
    /// The name of the user, if it is known.
    public let user: String?
    /// The reason why the last answer was refused.
    public let failure: MobileError?
    /// Whether the registration needs an activation code.
    public let needsActivation: Bool
}

/// An answer for the sign-in.
///
/// ```swift
/// return .basic(user: "ann", password: Secret(text), activation: code.map { Secret($0) })
/// ```
public enum SignInAnswer: Sendable {
    /// A user name and a password.
    case basic(user: String, password: Secret<String>, method: String? = nil, activation: Secret<String>? = nil)
    /// A browser: the library makes the URL of the issuer, the app shows it and returns the URL of the redirect.
    case browser(
        redirectURI: String, method: String? = nil, activation: Secret<String>? = nil,
        browse: @Sendable (_ url: String) async throws -> String)
    /// Tokens that the app has obtained.
    case tokens(OAuth2Tokens, method: String? = nil)
    /// A client certificate with its key, in a PKCS#12 archive.
    case certificate([UInt8], passphrase: Secret<String>, method: String? = nil)
    /// Cookies that a sign-in page has set.
    case cookies([Cookie], user: String? = nil, method: String? = nil)
    /// An activation code alone, with the user name of the invitation.
    case activation(code: Secret<String>, user: String? = nil, method: String? = nil)
    /// No credentials.
    case anonymous(method: String? = nil)
}

/// The reason for which a passcode is asked.
///
/// ```swift
/// case .create(let violations): show(violations.map(\.description).joined(separator: "\n"))
/// case .unlock(let attemptsLeft): show("Wrong passcode.", attemptsLeft as Any)
/// ```
public enum PasscodePurpose: Sendable, Hashable {
    /// A new passcode; the last one violated the policy in these points.
    case create(violations: [PasswordViolation])
    /// The passcode of the vault; after a wrong one, the number of further wrong ones that destroys the data.
    case unlock(isRepeated: Bool, attemptsLeft: Int?)
    /// A new passcode in place of one that violates the policy or has expired.
    case change(violations: [PasswordViolation])
}

/// A user of the app on this device.
///
/// ```swift
/// for user in try await onboarding.users() { show(user.user ?? "Guest") }
/// ```
public struct OnboardedUser: Sendable, Hashable {
    /// The name of the user; `nil` for a guest.
    public let user: String?
    /// The address of the application.
    public let profile: ConnectionProfile
    /// Whether all steps are done.
    public let isComplete: Bool
    /// The reason for which the app is locked for this user.
    public let lock: LockReason?
}
