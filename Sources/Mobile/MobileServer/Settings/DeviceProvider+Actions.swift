import Foundation
import MobileProtocol
import ODataModel
import ODataService
import ServerState

/// The actions `Confirm` and `Enroll`.
extension DeviceProvider {
    func perform(
        _ operation: ODataOperation, _ record: RegistrationRecord, request: ODataRequest, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        guard case .parameters(let parameters) = request.body else {
            throw ODataError(.emptyParameter, "The action needs its parameters.")
        }
        switch operation.name.name {
        case "Confirm": return try await confirm(parameters, record, for: caller)
        case "Enroll": return try await enroll(parameters, record, for: caller)
        default: throw ODataError.notImplemented(operation.name.description)
        }
    }

    // MARK: Confirm

    private func confirm(
        _ parameters: [String: ODataValue], _ record: RegistrationRecord, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        guard case .string(let kind)? = parameters["kind"], case .integer(let version)? = parameters["version"] else {
            throw ODataError(.emptyParameter, "Confirm needs kind and version.")
        }
        let lock: DeviceLock
        switch kind {
        case "locked": lock = .locked
        case "unlocked": lock = .none
        case "wiped": lock = .wipe
        default:
            throw ODataError(.invalidProperty, "kind is locked, unlocked or wiped.", target: "kind")
        }
        if lock == .wipe {
            try Self.check(parameters["confirmation"], record)
        } else if caller.isConfirmation {
            throw DeviceRegistrations.unauthorized
        }
        guard record.lock == lock, record.lockVersion == version else {
            throw ODataError(.conflict, "The order was changed meanwhile. Read Policies again.")
        }
        let confirmed = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.confirmLock(version: version, registration: record.id, of: record.application)
        }
        guard confirmed != nil else {
            throw ODataError(.conflict, "The order was changed meanwhile. Read Policies again.")
        }
        let name = caller.application.record.name
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.operators.audit(
                AuditNote(actor: "device", action: "device.\(kind)", target: "\(name)/\(record.id)"))
        }
        await state.signal.send([.scope(name)])
        return ODataResponse(status: 204)
    }

    /// Checks the random confirmation of a wipe, which is all that a wiped device has left (`design-review.md` 9).
    private static func check(_ given: ODataValue?, _ record: RegistrationRecord) throws(ODataError) {
        let refusal = ODataError(
            status: 403, code: MobileErrorName.proofRequired.rawValue,
            message: "A wipe is confirmed with the confirmation of the order.", target: "confirmation")
        guard case .string(let text)? = given, text.utf8.count <= 128, let bytes = Base64URL.decode(text),
            let expected = record.lockConfirmation, bytes.count == expected.count
        else { throw refusal }
        guard zip(bytes, expected).reduce(0 as UInt8, { $0 | ($1.0 ^ $1.1) }) == 0 else { throw refusal }
    }

    // MARK: Enroll

    private func enroll(
        _ parameters: [String: ODataValue], _ record: RegistrationRecord, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        guard !caller.isConfirmation else { throw DeviceRegistrations.unauthorized }
        guard case .binary(let bytes)? = parameters["request"] else {
            throw ODataError(.emptyParameter, "Enroll needs a certificate request.", target: "request")
        }
        let request: CertificateRequest
        do throws(CertificateRequestError) {
            request = try CertificateRequest(bytes)
        } catch {
            if case .tooLong = error { throw ODataError(.tooLarge, error.description, target: "request") }
            throw ODataError(.invalidProperty, error.description, target: "request")
        }
        let now = clock()
        try Self.checkRenewal(record, caller, now: now)
        let name = caller.application.record.name
        let issued = try authority.issue(request, for: record.id, application: name, at: now.date)
        let mark = DeviceCertificateMark(serial: issued.serial, until: ServerInstant(issued.until))
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.registrations.update(
                record.id, of: record.application, ifMatch: nil, RegistrationChange(certificate: mark))
            _ = try await state.operators.audit(
                AuditNote(
                    actor: "device", action: "device.enroll", target: "\(name)/\(record.id)",
                    detail: Array(#"{"serial":"\#(DeviceDocuments.hexadecimal(issued.serial))"}"#.utf8)))
        }
        await state.signal.send([.scope(name)])
        return ODataResponse(body: .raw(ByteStream(issued.bytes), contentType: "application/pkix-cert"))
    }

    /// Refuses a renewal before its time.
    ///
    /// A device that does not show its certificate may have lost the response with it, and gets another one; the former
    /// one is refused from then on.
    private static func checkRenewal(
        _ record: RegistrationRecord, _ caller: DeviceRequest, now: ServerInstant
    ) throws(ODataError) {
        guard let serial = record.certificateSerial, let until = record.certificateUntil,
            caller.certificate?.serial == serial
        else { return }
        let left = DeviceAuthority.validityDays - DeviceAuthority.renewalDays
        guard until - .seconds(left * 86_400) > now else { return }
        throw ODataError(
            .policyViolated, "The certificate can be renewed after \(DeviceAuthority.renewalDays) days.")
    }
}
