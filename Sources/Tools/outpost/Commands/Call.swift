import ArgumentParser
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

struct Call: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: translated("Call an action or a function of the service."),
        discussion: translated(
            paragraphs: """
                An action waits like any other change: the next push calls it. With --now the service is asked at \
                once, and its answer is printed. A function changes nothing and is always asked at once.

                An operation that belongs to an entity or a set is named behind it. Its namespace may be left out. \
                Values are given as to 'outpost create'.

                EXAMPLE
                  outpost call shop 'Orders(10248)/Ship' Carrier=2
                  outpost call shop ResetData --now
                  outpost call shop 'Products/TopProducts' count=5
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The action or function.")) var operation: String
    @Argument(help: .text("Parameters and their values.")) var parameters: [String] = []
    @Flag(help: .text("Call an action at once, over the network.")) var now = false
    @OptionGroup var queuing: QueuingOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        guard try await !waits() else {
            return try await Edit(store: store, queuing: queuing, json: json).run { editor in
                try await editor.send(editor.call(CalledOperation(operation, parameters, editor: editor), parameters))
            }
        }
        let connected = try await store.open(service, keeping)
        let (name, arguments) = (operation, parameters)
        var options = queuing.changeOptions
        options.operationMode = .online
        let chosen = options
        let answer = try await connected.run { store in
            let editor = Edit.Editor(provider: store, options: chosen)
            let operation = try CalledOperation(name, arguments, editor: editor)
            let request =
                operation.isAction
                ? try editor.call(operation, arguments).request : ODataRequest(.read, operation.url)
            let response = try await store.changes.provider(with: chosen).execute(request)
            return try await CallAnswer(response, to: operation, model: store.serviceModel)
        }
        answer.show(json: json)
    }

    /// Whether the call is one that waits for a push.
    private func waits() async throws -> Bool {
        guard !now else { return false }
        let (name, arguments) = (operation, parameters)
        return try await store.reading { store in
            let editor = Edit.Editor(provider: store, options: ChangeOptions())
            return try CalledOperation(name, arguments, editor: editor).isAction
        }
    }
}

/// The answer of an operation that was called at once.
private struct CallAnswer: Sendable {
    private let body: ResponseBody
    private let url: ODataURL
    private let model: EntityDataModel

    /// - Throws: `TransportError` if the answer is cut short.
    init(_ response: ODataResponse, to operation: CalledOperation, model: EntityDataModel) async throws {
        // The connection is closed before the answer is printed.
        if case .raw(let stream, let contentType) = response.body {
            body = .raw(ByteStream(try await stream.collect(limit: 1 << 28)), contentType: contentType)
        } else {
            body = response.body
        }
        url = operation.url
        self.model = model
    }

    func show(json: Bool) {
        guard !json else { return print(TerminalText(json: text)) }
        switch body {
        case .page(let page):
            var rows = EntityRows(EntityTable(model: model, url: url), form: .fitting)
            Terminal.write(rows.add(page.entities))
            Terminal.write(rows.finish())
        case .entity(let entity):
            for (name, text) in EntityTable(model: model, url: url).pairs(entity) {
                print("\(Terminal.bold(name)): \(text)")
            }
        case .value(.collection(let values), let type):
            for value in values { print(value.cell(type: type.element, model: model)) }
        case .value(let value, let type): print(value.cell(type: type, model: model))
        case .count(let count): print("\(count)")
        case .references(let ids, _, _, _): for id in ids { print(id) }
        default: print("Called \(url.description).")
        }
    }

    /// The answer in the OData JSON format.
    private var text: String {
        var writer = JSONWriter()
        let entities = EntityJSON(model: model, url: url, QueryLanguage())
        switch body {
        case .entity(let entity): entities.write(entity, to: &writer)
        case .page(let page):
            writer.beginObject()
            writer.key("value")
            writer.beginArray()
            for entity in page.entities { entities.write(entity, to: &writer) }
            writer.endArray()
            writer.endObject()
        case .value(let value, let type):
            writer.beginObject()
            writer.key("value")
            writer.value(value, type: type, model: model)
            writer.endObject()
        case .count(let count): writer.integer(count)
        default:
            writer.beginObject()
            writer.endObject()
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
