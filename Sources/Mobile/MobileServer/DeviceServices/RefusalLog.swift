import HTTPTypes
import ODataService
import ServerState

/// Writes a log record for each refused replay of a device: a change with a request id that a back end has refused.
///
/// A record has the status, code, path and id of the request, and neither credentials nor bodies.
struct RefusalLog: Sendable {
    let services: NodeServices

    /// Notes a refusal.
    ///
    /// - Returns: The same answer.
    func note(
        _ answer: (HTTPResponse, ByteStream), to request: HTTPRequest, destination: String, root: String,
        caller: DeviceCaller
    ) async throws -> (HTTPResponse, ByteStream) {
        let status = answer.0.status.code
        if status == 401 { await requestCredentials(destination, caller) }
        guard (400..<600).contains(status), ![401, 408, 425, 429, 503].contains(status),
            ![.get, .head, .options].contains(request.method), let registration = caller.registration,
            let id = request.mobileField("Repeatability-Request-ID")
        else { return answer }
        let (start, whole) = try await answer.1.beginning(ErrorMapping.bodyLimit)
        let code = ErrorMapping.code(in: start)?.text
        let path = String((request.path ?? "").prefix { $0 != "?" })
        let now = services.clock()
        let record = DeviceLogRecord(
            application: registration.application, registration: registration.id, at: now, level: "error",
            message: "The back end has refused the change with status \(status).", component: destination,
            entityKey: path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path,
            operation: request.method.rawValue, code: status, backEndCode: code, requestID: id)
        do throws(ServerStateError) {
            // The answer of the back end counts, whether its record can be written or not.
            _ = try await services.state.deviceServices().records.add(
                record, expiresAt: now + .seconds(services.configuration.retention.logs * 86_400))
        } catch {
            services.logger.warning("a log record was not written", metadata: ["reason": "\(error)"])
        }
        return (answer.0, whole)
    }

    /// Asks the device for credentials, if the destination is set to.
    private func requestCredentials(_ destination: String, _ caller: DeviceCaller) async {
        guard let registration = caller.registration,
            caller.application.configuration.destinations[destination]?.throwsCredentialRequest == true
        else { return }
        do throws(ServerStateError) {
            try await MessageAnnouncer.requestCredentials(for: destination, registration, services.state)
        } catch {
            services.logger.warning("a device was not asked for credentials", metadata: ["reason": "\(error)"])
        }
    }
}
