import ODataModel
import ODataService
import ObjectAPI
import Testing

/// The nine events of the table of a row's replay attributes.
enum ReplayEvent: Int, CaseIterable, Sendable {
    case editClean = 1, editHeld, editSubmitted, editRefused, submit, accept, refuse, cancel, cancelSending
}

/// One object at a service, with the events that happen to it and the expected state of the database.
final class ReplayRow {
    let service: CrmService
    private(set) var crm: CrmDatabase
    private(set) var object: Customer
    private(set) var model: ReplayModel
    private var edits = 0

    init() async throws {
        service = try await CrmService()
        crm = try await service.synchronized()
        object = try #require(try await crm.customers.filter(\.lastName == "Smith").first())
        model = ReplayModel(known: object.city ?? "")
    }

    /// Brings the row into the state in which an event can happen, by other events.
    func prepare(for event: ReplayEvent) async throws {
        switch event {
        case .editClean:
            if model.canBeSent { try await accept() }
            if !model.isClean { try await cancel() }
        case .editHeld:
            if model.last != .held { try await edit() }
        case .editSubmitted:
            if model.isClean { try await edit() }
            if model.last == .held || model.last == .refused { try await submit() }
        case .editRefused:
            if !model.isRefused {
                try await prepare(for: .refuse)
                try await refuse()
            }
        case .submit:
            if model.last != .held, model.last != .refused { try await edit() }
        case .accept, .refuse:
            if model.isClean { try await edit() }
            if !model.canBeSent { try await submit() }
        case .cancel:
            if model.isSending { try await accept() }
            if model.isClean { try await edit() }
        case .cancelSending:
            guard !model.isSending else { return }
            try await prepare(for: .accept)
            try await lose()
        }
    }

    func happen(_ event: ReplayEvent) async throws {
        switch event {
        case .editClean, .editHeld, .editSubmitted, .editRefused: try await edit()
        case .submit: try await submit()
        case .accept: try await accept()
        case .refuse: try await refuse()
        case .cancel, .cancelSending: try await cancel()
        }
    }

    func reopen() async throws {
        try crm.close()
        crm = try await service.database()
        try await compare("reopening")
    }

    // MARK: Events

    private func edit() async throws {
        edits += 1
        let before = model.counter
        object.city = "City \(edits)"
        object = try await crm.save(object)
        #expect(object.objectState.replayCounter > before, "the counter ascends")
        model.edit("City \(edits)", counter: object.objectState.replayCounter)
        try await compare("an edit")
    }

    private func submit() async throws {
        try await crm.submitPending(object)
        model.submit()
        try await compare("a submission")
    }

    private func accept() async throws {
        try await crm.synchronize()
        model.accept()
        try await compare("an acceptance")
    }

    private func refuse() async throws {
        service.refuseAll()
        try await crm.synchronize()
        service.mend()
        model.refuse()
        try await compare("a refusal")
    }

    /// The service refuses the change, and the answer is lost.
    private func lose() async throws {
        service.refuseAll()
        service.loseAnswers()
        await #expect(throws: (any Error).self) { try await crm.synchronize() }
        service.mend()
        model.lose()
        try await compare("a lost answer")
    }

    private func cancel() async throws {
        if model.cancel() {
            object = try #require(try await crm.cancelPending(object))
        } else {
            let (crm, object) = (crm, object)
            await #expect(throws: ObjectError.self) { try await crm.cancelPending(object) }
        }
        try await compare("a cancellation")
    }

    private func compare(_ event: String) async throws {
        object = try await crm.refresh(object)
        #expect(object.objectState.numbers == model.numbers, "after \(event)")
        #expect(object.city == model.value, "after \(event)")
    }
}
