import Crypto
import Foundation
import ODataModel
import ODataQuery
import ODataService
import ServerState

/// The actions of the operators' API.
extension OperatorProvider {
    /// The number of devices that one operator alone may have wiped in one call (`mobile-server.md` 2).
    static let devicesOfOneOperator = 10
    /// The maximum number of devices of one call.
    private static let maxDevices = 10_000
    /// The action of approvals for wipes.
    static let wipe = "device.wipe"
    /// The action of approvals for versions that send credentials to new places.
    static let activation = "configuration.activate"

    func call(
        _ operation: ODataOperation, _ set: EntitySet, bound: BoundURL, request: ODataRequest,
        from sender: OperatorRequest
    ) async throws -> ODataResponse {
        let name = operation.name.name
        try sender.require(OperatorRights.calling(name), name)
        if OperatorRights.needsConfirmation(action: name) { try sender.requireConfirmation() }
        var parameters: [String: ODataValue] = [:]
        if case .parameters(let given) = request.body { parameters = given }
        let key = Self.key(bound)
        switch name {
        case "Lock": return try await setLock(.locked, key, from: sender)
        case "Unlock": return try await setLock(.none, key, from: sender)
        case "Wipe": return try await setLock(.wipe, key, from: sender)
        case "Disconnect": return try await disconnect(key, sender)
        case "WipeAll": return try await wipeAll(parameters, request, from: sender)
        case "LockUser": return try await setLocked(true, key, from: sender)
        case "UnlockUser": return try await setLocked(false, key, from: sender)
        case "MakeActivationCode":
            return try await makeActivationCode(parameters, key, operation: operation, from: sender)
        case "Activate": return try await activate(key, sender)
        case "Approve": return try await approve(key, sender)
        case "Reset": return try await reset(key, sender)
        case "MakeLink": return try await makeLink(key, operation, from: sender)
        case "SendMessage": return try await sendMessage(parameters, key, from: sender)
        default: throw ODataError.notImplemented(name)
        }
    }

    // MARK: Devices

    private func setLock(
        _ lock: DeviceLock, _ key: EntityKey?, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        let application = try await application(named: try Self.text("Application", key, entity: nil), sender)
        let id = try Self.text("ID", key, entity: nil)
        try await order(lock, id, application: application, from: sender)
        return await removed(application.name)
    }

    /// Orders a lock, unlock or wipe of one device. A wipe carries a random confirmation (`design-review.md` 9).
    private func order(
        _ lock: DeviceLock, _ id: String, application: ApplicationRecord, from sender: OperatorRequest
    ) async throws {
        let confirmation = lock == .wipe ? SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } : nil
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.registrations.setLock(
                lock, confirmation: confirmation, registration: id, of: application.id)
        }
        let action =
            switch lock {
            case .none: "device.unlock"
            case .locked: "device.lock"
            case .wipe: Self.wipe
            }
        try await audit(sender, action, target: "\(application.name)/\(id)")
    }

    private func disconnect(_ key: EntityKey?, _ sender: OperatorRequest) async throws -> ODataResponse {
        let application = try await application(named: try Self.text("Application", key, entity: nil), sender)
        let id = try Self.text("ID", key, entity: nil)
        try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.unregister(id, of: application.id, ifMatch: nil)
        }
        try await audit(sender, "device.disconnect", target: "\(application.name)/\(id)")
        return await removed(application.name)
    }

    private func wipeAll(
        _ parameters: [String: ODataValue], _ request: ODataRequest, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        guard case .string(let name)? = parameters["application"], case .collection(let members)? = parameters["ids"]
        else { throw ODataError(.emptyParameter, "WipeAll needs application and ids.") }
        let ids = Set(members.compactMap { if case .string(let id) = $0 { id } else { nil } }).sorted()
        guard (1...Self.maxDevices).contains(ids.count) else {
            throw ODataError(.invalidProperty, "ids names 1 to \(Self.maxDevices) devices.", target: "ids")
        }
        let application = try await application(named: name, sender)
        guard ids.count > Self.devicesOfOneOperator else {
            for id in ids { try await order(.wipe, id, application: application, from: sender) }
            return await removed(application.name)
        }
        let body = Array(try JSONEncoder().encode(MassWipe(application: name, ids: ids)))
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.request(
                action: Self.wipe, body: body, by: sender.name, expiresAt: sender.now + .seconds(86_400))
        }
        try await audit(
            sender, "approval.request", target: String(record.id),
            detail: ["action": Self.wipe, "devices": "\(ids.count)"])
        return ODataResponse(status: 202, body: .entity(shapes.approval(record)))
    }

    /// The parameters of a wipe that waits for a second operator.
    struct MassWipe: Codable {
        var application: String
        var ids: [String]
    }

    private func approve(_ key: EntityKey?, _ sender: OperatorRequest) async throws -> ODataResponse {
        guard case .integer(let id)? = key?["ID"], sender.confirmedAt != nil else {
            throw ODataError(.emptyParameter, "Approve needs the number of the approval.")
        }
        let waiting = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.approvals().first { $0.id == id }
        }
        if waiting?.action == Self.activation { try sender.require(.manager, "Approve") }
        let approved = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.approve(id, by: sender.name)
        }
        guard let approved else {
            throw ODataError(
                status: 409, code: "ApprovalRefused",
                message: "The approval has expired, was given before, or the same operator asked for it.")
        }
        try await audit(sender, "approval.give", target: String(id), detail: ["action": approved.action])
        if approved.action == Self.activation,
            let activation = try? JSONDecoder().decode(Activation.self, from: Data(approved.body))
        {
            var application = try await application(named: activation.application, sender)
            application.activeVersion = activation.former
            return try await activate(activation.version, of: application, from: sender)
        }
        guard approved.action == Self.wipe,
            let wipe = try? JSONDecoder().decode(MassWipe.self, from: Data(approved.body))
        else { throw ODataError.notImplemented(approved.action) }
        let application = try await application(named: wipe.application, sender)
        // The approval counts once, so that all devices are wiped even if the operator goes away meanwhile.
        try await Task { try await self.wipe(wipe.ids, of: application, from: sender) }.value
        return await removed(application.name)
    }

    private func wipe(_ ids: [String], of application: ApplicationRecord, from sender: OperatorRequest) async throws {
        var failure: (any Error)?
        for id in ids {
            do {
                try await order(.wipe, id, application: application, from: sender)
            } catch let error as ODataError where error.status == 404 {
                // The device has gone since the request.
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    // MARK: Users and codes

    private func setLocked(
        _ isLocked: Bool, _ key: EntityKey?, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        guard case .integer(let id)? = key?["ID"] else { throw ODataError(.emptyParameter, "The user is missing.") }
        let (user, applications) = try await translatingState { () async throws(ServerStateError) in
            (try await state.registrations.user(id), try await state.applications.all())
        }
        guard let user, let application = applications.first(where: { $0.id == user.application }) else {
            throw ODataError.notFound("The user \(id)")
        }
        try sender.requireAccess(to: application.name)
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.registrations.setLocked(isLocked, user: id)
        }
        try await audit(sender, isLocked ? "user.lock" : "user.unlock", target: "\(application.name)/\(user.subject)")
        return await removed(application.name)
    }

    private func makeActivationCode(
        _ parameters: [String: ODataValue], _ key: EntityKey?, operation: ODataOperation, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        let application = try await application(named: try Self.text("Name", key, entity: nil), sender)
        guard case .string(let user)? = parameters["user"],
            (1...RegistrationLimits.userNameLength).contains(user.count)
        else {
            throw ODataError(.emptyParameter, "user names the person, with at most 255 characters.", target: "user")
        }
        var hours: Int64 = 24
        if case .integer(let given)? = parameters["hours"] { hours = given }
        guard (1...720).contains(hours) else {
            throw ODataError(.invalidProperty, "hours is 1 to 720.", target: "hours")
        }
        let code = ActivationCode()
        let expires = sender.now + .seconds(hours * 3600)
        let hash = code.digest(key: services.keys.key(.codes).symmetricKey)
        try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.addActivation(
                ActivationRecord(hash: hash, application: application.id, userName: user, expiresAt: expires))
        }
        try await audit(sender, "activation.make", target: "\(application.name)/\(user)")
        let value = shapes.complex("ActivationCode", ["Code": .string(code.text), "ExpiresAt": .time(expires)])
        return Self.answer(value, operation)
    }

    private static func answer(_ value: ODataEntity, _ operation: ODataOperation) -> ODataResponse {
        ODataResponse(body: .value(.complex(value), operation.returnType ?? .complex(value.shape.name)))
    }

    // MARK: Configurations

    private func activate(_ key: EntityKey?, _ sender: OperatorRequest) async throws -> ODataResponse {
        guard case .integer(let version)? = key?["Version"], let number = Int(exactly: version) else {
            throw ODataError(.emptyParameter, "Activate needs the version.")
        }
        let application = try await application(named: try Self.text("Application", key, entity: nil), sender)
        let stored = try await translatingState { () async throws(ServerStateError) in
            try await state.applications.configuration(number, of: application.id)
        }
        guard let stored else { throw ODataError.notFound("The version \(number) of \(application.name)") }
        guard let configuration = try? ApplicationConfiguration(canonicalJSON: stored.body) else {
            throw ODataError(.policyViolated, "This build cannot read the configuration.")
        }
        let former = try await translatingState { () async throws(ServerStateError) in
            try await state.applications.configuration(application.activeVersion, of: application.id)
        }
        let known = former.flatMap { try? ApplicationConfiguration(canonicalJSON: $0.body) }?.reach ?? []
        if sender.role < .security, !configuration.reach.subtracting(known).isEmpty {
            return try await requestActivation(number, of: application, from: sender)
        }
        return try await activate(number, of: application, from: sender)
    }

    /// Asks a second operator to activate a version that sends credentials to new places.
    private func requestActivation(
        _ number: Int, of application: ApplicationRecord, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        // A key is not a person: its owner could approve the request of the own key.
        guard sender.application == nil else {
            throw ODataError(
                .roleMissing, "The version sends credentials to new places. Operators activate it.", target: "Activate")
        }
        let body = Array(
            try JSONEncoder().encode(
                Activation(application: application.name, version: number, former: application.activeVersion)))
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.request(
                action: Self.activation, body: body, by: sender.name, expiresAt: sender.now + .seconds(86_400))
        }
        try await audit(
            sender, "approval.request", target: String(record.id),
            detail: ["action": Self.activation, "version": "\(application.name)/\(number)"])
        return ODataResponse(status: 202, body: .entity(shapes.approval(record)))
    }

    /// The parameters of an activation that waits for a second operator.
    struct Activation: Codable {
        var application: String
        var version: Int
        /// The version that was active at the request. Another one meanwhile ends the request.
        var former: Int
    }

    private func activate(
        _ number: Int, of application: ApplicationRecord, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        try await translatingState { () async throws(ServerStateError) in
            try await ApplicationImporter(state: state).activate(
                number, of: application.name, by: sender.actor, ifActive: application.activeVersion)
        }
        return await removed(ChangeNumberScope.server)
    }

    // MARK: Operators

    private func reset(_ key: EntityKey?, _ sender: OperatorRequest) async throws -> ODataResponse {
        let name = try Self.text("Name", key, entity: nil)
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.operators.update(name, ifMatch: nil, OperatorChange(resetsCredentials: true))
        }
        try await audit(sender, "operator.reset", target: name)
        return await removed(ChangeNumberScope.server)
    }

    private func makeLink(
        _ key: EntityKey?, _ operation: ODataOperation, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        let name = try Self.text("Name", key, entity: nil)
        let known = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.named(name)
        }
        guard known != nil else { throw ODataError.notFound("The operator \(name)") }
        let code = try await translatingState { () async throws(ServerStateError) in
            try await OperatorLinks(state: state, keys: services.keys).make(for: name, now: sender.now)
        }
        try await audit(sender, "operator.link", target: name)
        return Self.answer(
            shapes.complex(
                "SignInLink", ["Code": .string(code), "Path": .string("/sign-in/first?code=\(code)")]), operation)
    }
}
