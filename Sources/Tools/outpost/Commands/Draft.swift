import ArgumentParser
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

struct DraftCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "draft",
        abstract: translated("Work on a copy of an entity, and apply its changes when you activate it."),
        discussion: translated(
            paragraphs: """
                A draft is changed with 'outpost update' like any entity, and is not pushed. Activating it makes the \
                same changes to the entity and removes the draft.

                A service that keeps drafts itself has them beside the entities, with IsActiveEntity=false in the key. \
                It makes, checks and activates them over the network; between these steps they are changed offline and \
                pushed.

                EXAMPLE
                  outpost draft make shop 'Orders(10248)'
                  outpost update shop 'OrdersDrafts(10248)' Freight=40
                  outpost draft activate shop 'OrdersDrafts(10248)'
                  outpost push shop
                """),
        subcommands: [List.self, Make.self, Prepare.self, Activate.self, Discard.self])

    /// One entity, and the way to its service.
    struct DraftOptions: ParsableArguments {
        @OptionGroup var store: StoreOptions
        @Argument(help: .text("The entity or the draft, by key.")) var entity: String
        @OptionGroup var service: ServiceOptions
        @OptionGroup var keeping: KeepingOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        /// Whether the service keeps drafts of the entity itself.
        func isOfService(_ store: OfflineStore) throws -> Bool {
            guard
                case .entity(let shape, _) = try Binder(model: store.model).bind(ODataURL(parsing: entity)).resource
                    .target
            else {
                throw Failure(
                    message: "\(entity) is not a single entity.", advice: "Give its key, such as Orders(10248).",
                    status: .misused)
            }
            return shape.key.contains { $0.name == "IsActiveEntity" }
        }

        /// Asks the service for a step of its own drafts.
        func ask(
            _ done: String, _ step: @escaping @Sendable (OfflineStore, ODataURL) async throws -> ODataEntity
        ) async throws {
            let connected = try await store.open(service, keeping)
            let url = try ODataURL(parsing: entity)
            let result = try await connected.run { store in
                let entity = try await step(store, url)
                return DraftCommand.url(of: entity, beside: url, store.model)
            }
            report(done, result)
        }

        func report(_ done: String, _ entity: String, pending: Int? = nil) {
            guard !json else {
                return print(JSONText(Report(done: done, entity: entity, pending: pending)).text)
            }
            let rest: TerminalText = pending.map { Terminal.dim(" \(Terminal.plural($0, "change")) to push.") } ?? ""
            print("\(done) \(entity).\(rest)")
        }

        private struct Report: Encodable {
            var done: String
            var entity: String
            var pending: Int?
        }
    }

    /// The address of an entity in the set of another one.
    static func url(of entity: ODataEntity, beside url: ODataURL, _ model: EntityDataModel) -> String {
        guard let key = entity.key, case .name(let set, _)? = url.path.segments.first else { return url.description }
        return ODataURL(set: set.text, key: key, model: model).description
    }

    struct List: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: translated("List the drafts of a clone."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost draft list shop
                    """))

        @OptionGroup var store: StoreOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        private struct Report: Encodable, Sendable {
            var draft: String
            var entitySet: String
            var isOfService: Bool
        }

        func run() async throws {
            let drafts = try await store.reading { store in
                var drafts: [Report] = []
                for (set, active) in store.options.creation.localDrafts.sorted(by: { $0.key < $1.key }) {
                    for entity in try await Self.entities(ODataURL(set: set), in: store) {
                        drafts.append(Report(draft: entity, entitySet: active, isOfService: false))
                    }
                }
                for set in store.serviceModel.container.entitySets {
                    guard let shape = store.serviceModel.shape(set.type),
                        shape.key.contains(where: { $0.name == "IsActiveEntity" })
                    else { continue }
                    let url = try ODataURL(parsing: "\(set.name)?$filter=IsActiveEntity eq false")
                    for entity in try await Self.entities(url, in: store) {
                        drafts.append(Report(draft: entity, entitySet: set.name, isOfService: true))
                    }
                }
                return drafts
            }
            guard !json else { return print(JSONText(drafts).text) }
            guard !drafts.isEmpty else { return print("There is no draft.") }
            var table = Table(["Draft", "Of", "Kept by"])
            for draft in drafts {
                table.add([draft.draft, draft.entitySet, translated(draft.isOfService ? "the service" : "the clone")])
            }
            Terminal.write(table.rendered())
        }

        private static func entities(_ url: ODataURL, in store: OfflineStore) async throws -> [String] {
            do {
                guard case .page(let page) = try await store.execute(ODataRequest(.read, url)).body else { return [] }
                return page.entities.map { DraftCommand.url(of: $0, beside: url, store.model) }
            } catch let error as ODataError where error.isNotLoaded {
                return []
            }
        }
    }

    struct Make: AsyncParsableCommand, StoreCommand, ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "make", abstract: translated("Make a draft of an entity."),
            discussion: translated(
                paragraphs: """
                    The first draft of a set makes the set of its drafts, such as OrdersDrafts.

                    EXAMPLE
                      outpost draft make shop 'Orders(10248)'
                      outpost draft make shop 'Orders(ID=7,IsActiveEntity=true)'
                    """))

        @OptionGroup var draft: DraftOptions
        var store: StoreOptions { draft.store }
        var service: ServiceOptions { draft.service }

        func run() async throws {
            guard try await !store.reading({ try draft.isOfService($0) }) else {
                return try await draft.ask(translated("Made")) { try await $0.drafts.editServiceDraft(of: $1) }
            }
            let url = try ODataURL(parsing: draft.entity)
            guard url.path.segments.count == 1, case .name(let set, _)? = url.path.segments.first else {
                throw Failure(message: "\(draft.entity) is no entity of a set.", status: .misused)
            }
            let made = try await withDrafts(of: set.text) { store, drafts in
                let entity = try await store.drafts.make(of: url, in: drafts)
                return DraftCommand.url(of: entity, beside: ODataURL(set: drafts), store.model)
            }
            draft.report(translated("Made"), made)
        }

        /// Opens the store with a set for the drafts of another set.
        private func withDrafts<Value>(
            of set: String, _ body: (OfflineStore, String) async throws -> Value
        ) async throws -> Value {
            let protection = try store.key.protection(ofCloneIn: store.directory)
            var provider = try await OfflineStore.open(at: store.directory, protection: protection)
            do {
                var name = provider.options.creation.localDrafts.first { $0.value == set }?.key
                if name == nil {
                    var (options, free) = (provider.options, "\(set)Drafts")
                    while provider.model.entitySet(free) != nil || provider.model.singleton(free) != nil { free += "_" }
                    options.creation.localDrafts[free] = set
                    try provider.close()
                    provider = try await OfflineStore.open(
                        at: store.directory, protection: protection, options: options)
                    name = free
                }
                let value = try await body(provider, name ?? set)
                try provider.close()
                return value
            } catch {
                try? provider.close()
                throw error
            }
        }
    }

    struct Prepare: AsyncParsableCommand, StoreCommand, ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "prepare", abstract: translated("Have the service check and complete one of its drafts."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost draft prepare shop 'Orders(ID=7,IsActiveEntity=false)'
                    """))

        @OptionGroup var draft: DraftOptions
        var store: StoreOptions { draft.store }
        var service: ServiceOptions { draft.service }

        func run() async throws {
            guard try await store.reading({ try draft.isOfService($0) }) else {
                throw Failure(
                    message: "The service keeps no draft of \(draft.entity).",
                    advice: "A draft of the clone needs no preparation: outpost draft activate DIR DRAFT",
                    status: .misused)
            }
            try await draft.ask(translated("Prepared")) { try await $0.drafts.prepareServiceDraft($1) }
        }
    }

    struct Activate: AsyncParsableCommand, StoreCommand, ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "activate",
            abstract: translated("Apply the changes of a draft to its entity, and remove the draft."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost draft activate shop 'OrdersDrafts(10248)'
                      outpost draft activate shop 'Orders(ID=7,IsActiveEntity=false)'
                    """))

        @OptionGroup var draft: DraftOptions
        var store: StoreOptions { draft.store }
        var service: ServiceOptions { draft.service }

        func run() async throws {
            guard try await !store.reading({ try draft.isOfService($0) }) else {
                return try await draft.ask(translated("Activated")) { try await $0.drafts.activateServiceDraft($1) }
            }
            let url = try ODataURL(parsing: draft.entity)
            let pending = try await store.reading { store in
                try await store.drafts.activate(url)
                return try await store.changes.pending().count
            }
            draft.report(translated("Activated"), url.description, pending: pending)
        }
    }

    struct Discard: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard", abstract: translated("Give a draft up; its entity stays as it is."),
            discussion: translated(
                paragraphs: """
                    A draft of the service is deleted there with the next push.

                    EXAMPLE
                      outpost draft discard shop 'OrdersDrafts(10248)'
                    """))

        @OptionGroup var store: StoreOptions
        @Argument(help: .text("The draft, by key.")) var draft: String
        @OptionGroup var queuing: QueuingOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            try await Edit(store: store, queuing: queuing, json: json).run { editor in
                let (url, shape) = try editor.single(draft)
                guard case .name(let set, _)? = url.path.segments.first,
                    editor.provider.options.creation.localDrafts[set.text] != nil
                        || shape.key.contains(where: { $0.name == "IsActiveEntity" })
                else {
                    throw Failure(
                        message: "\(draft) is no draft.", advice: "See the drafts: outpost draft list DIR",
                        status: .misused)
                }
                var change = try editor.deletion(of: draft)
                change.done = translated("Discarded")
                return try await editor.send(change)
            }
        }
    }
}
