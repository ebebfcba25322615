import HTTPTypes
import ODataServer
import Secrets
import ServerState

/// A request to the device API, as far as the checks before the provider have identified its caller.
struct DeviceRequest: Sendable {
    /// The request that the current task answers.
    @TaskLocal static var current: DeviceRequest?

    /// The application of the path.
    var application: ActiveApplication
    /// The head of the HTTP request.
    var head: HTTPRequest
    /// The circumstances of the request.
    var context: MountContext
    /// The registration that the request names, after all checks.
    var registration: RegistrationRecord?
    /// The user; `nil` if the request has no credentials.
    var user: DeviceUser?
    /// The row of the user.
    var record: UserRecord?
    /// The name of the security configuration by which the user was identified.
    var security: String?
    /// The proof of the request, with a valid signature and valid claims.
    var proof: DeviceProof?
    /// Whether the request confirms a wipe, for which the confirmation is enough (`design-review.md` 9).
    var isConfirmation = false
    /// The versions of policies and settings for the response.
    var versions: DeviceVersions?

    /// The caller as destinations know it; `nil` without a user.
    var caller: DeviceCaller? {
        guard let user, let record else { return nil }
        return DeviceCaller(
            application: application, user: record, registration: registration, security: security ?? "",
            principal: user.principal, credentials: head.headerFields[.authorization].map { Secret($0) },
            context: context)
    }

    /// The client certificate in its parsed form.
    var certificate: DeviceCertificate? { context.certificate.flatMap { DeviceCertificate($0) } }
}

/// The versions of the resources of a registration, to be compared for equality only.
struct DeviceVersions: Hashable, Sendable {
    var policies: Int64
    var settings: Int64
    /// The highest number of a message; `nil` if it is not known.
    var messages: Int64?
}
