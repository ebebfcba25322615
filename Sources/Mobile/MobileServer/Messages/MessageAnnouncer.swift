import Logging
import ODataModel
import ServerState
import Synchronization

/// Sends the messages that the server itself has for devices.
///
/// A lost message costs a device no data: the versions in each answer, and its next synchronization, tell the same.
final class MessageAnnouncer: Sendable {
    private let state: any ServerState
    private let logger: Logger
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(state: any ServerState, logger: Logger) {
        self.state = state
        self.logger = logger
    }

    /// Begins to send `Sync` for each feed that changes.
    func start() {
        let topics = state.signal.topics()
        task.withLock { task in
            task?.cancel()
            task = Task { [weak self] in
                for await group in topics {
                    for case .feed(let id) in group { await self?.announce(feed: id) }
                }
            }
        }
    }

    /// Ends the work.
    func stop() {
        task.withLock { task in
            task?.cancel()
            task = nil
        }
    }

    /// Sends `Sync` to the devices in the mode `online` that subscribe to the query of a feed.
    func announce(feed id: RecordNumber) async {
        do throws(ServerStateError) {
            // A feed of one user changes when this user reads it.
            guard let feed = try await state.feeds.feed(id), feed.visibility != .user else { return }
            let store = try state.deviceServices().messages
            let body = JSONMerge.object([
                (name: "destination", value: Self.text(feed.destination)),
                (name: "query", value: Self.text(feed.query)),
            ])
            let message = NewDeviceMessage(kind: .sync, body: body, coalesces: true)
            var last = ""
            while true {
                let ids = try await store.subscribers(
                    of: feed.query, destination: feed.destination, of: feed.application, after: last)
                for id in ids where try await isOnline(id, of: feed.application) {
                    _ = try await store.send(message, to: id, of: feed.application)
                }
                guard ids.count == 1000, let end = ids.last else { return }
                last = end
            }
        } catch {
            logger.warning("devices were not told of a feed", metadata: ["reason": "\(error)"])
        }
    }

    private func isOnline(_ id: String, of application: RecordNumber) async throws(ServerStateError) -> Bool {
        let record = try await state.registrations.registration(id, of: application)
        return record?.device.notificationMode == "online" && record?.state == .registered
    }

    /// Sends `CredentialRequest`: a back end has refused the credentials of the user.
    static func requestCredentials(
        for destination: String, _ registration: RegistrationRecord, _ state: any ServerState
    ) async throws(ServerStateError) {
        let body = JSONMerge.object([(name: "destination", value: text(destination))])
        _ = try await state.deviceServices().messages.send(
            NewDeviceMessage(kind: .credentialRequest, body: body, coalesces: true), to: registration.id,
            of: registration.application)
    }

    /// Sends `SettingsChanged` with the name of a setting that an operator has changed.
    static func settingChanged(
        _ name: String, registration: String, of application: RecordNumber, _ state: any ServerState
    ) async throws(ServerStateError) {
        let body = JSONMerge.object([(name: "names", value: [UInt8(ascii: "[")] + text(name) + [UInt8(ascii: "]")])])
        _ = try await state.deviceServices().messages.send(
            NewDeviceMessage(kind: .settingsChanged, body: body, coalesces: true), to: registration, of: application)
    }

    private static func text(_ text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(text)
        return writer.bytes
    }
}
