import ArgumentParser
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

struct StreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream",
        abstract: translated("Read and write pictures, documents and other streams of entities."),
        discussion: translated(
            paragraphs: """
                A media entity is named alone, such as Photos(1); a stream property behind its entity, such as \
                Photos(1)/Thumbnail. Streams are in a clone if a query was made with --streams, or once they are loaded.

                EXAMPLE
                  outpost stream get shop 'Photos(1)' --output photo.jpg
                  outpost stream put shop 'Photos(1)/Thumbnail' small.png
                  outpost stream put shop Photos new.jpg
                  outpost stream load shop 'Photos(1)'
                  outpost stream remove shop 'Photos(1)/Thumbnail'
                """),
        subcommands: [Get.self, Put.self, Remove.self, Load.self])

    struct Get: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: translated("Write a stream of a clone to a file, without a network."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost stream get shop 'Photos(1)' --output photo.jpg
                      outpost stream get shop 'Notes(7)/Text' | less
                    """))

        @OptionGroup var store: StoreOptions
        @Argument(help: .text("The media entity or stream property.")) var stream: String
        @Option(
            name: .shortAndLong, help: .text("The file to write; standard output when left out."), completion: .file())
        var output: String?
        @Flag(help: .text("Report as JSON; goes with --output.")) var json = false

        func validate() throws {
            guard !json || output != nil else { throw ValidationError(translated("--json goes with --output.")) }
        }

        func run() async throws {
            guard output != nil || !Terminal.isTerminal(.output) else {
                throw Failure(
                    message: "A stream is not for a terminal.", advice: "Name a file: --output FILE", status: .misused)
            }
            let report = try await store.reading { store in
                let url = try StreamAddress(stream, in: store).url
                do {
                    let response = try await store.execute(ODataRequest(.read, url))
                    guard case .raw(let bytes, let contentType) = response.body else {
                        throw Failure(message: "\(stream) has no stream.")
                    }
                    guard let output else {
                        try await Terminal.write(bytes)
                        return Report(stream: url.description, contentType: contentType)
                    }
                    let count = try await StreamFile.write(bytes, to: output)
                    return Report(stream: url.description, contentType: contentType, file: output, bytes: count)
                } catch let error as ODataError where error.isNotLoaded {
                    throw Failure(
                        message: "The stream of \(stream) is not in \(store.directory).",
                        advice: "Load it: outpost stream load DIR \(stream.shellQuoted)")
                }
            }
            if json {
                print(JSONText(report).text)
            } else if let output, let bytes = report.bytes {
                print("Wrote \(Terminal.bytes(bytes)) (\(report.contentType)) to \(Terminal.bold(output)).")
            }
        }

        private struct Report: Encodable, Sendable {
            var stream: String
            var contentType: String
            var file: String?
            var bytes: Int64?
        }
    }

    struct Put: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "put",
            abstract: translated(
                "Replace a stream by a file, or make a media entity of it; the next push sends the bytes."),
            discussion: translated(
                paragraphs: """
                    The name of a set creates a new media entity. Set its properties with 'outpost update' afterwards.

                    EXAMPLE
                      outpost stream put shop 'Photos(1)' photo.jpg
                      outpost stream put shop Photos scan.tiff --type image/tiff
                      curl -s https://host/map.png | outpost stream put shop 'Photos(1)/Map' - --type image/png
                    """))

        @OptionGroup var store: StoreOptions
        @Argument(help: .text("The media entity, the stream property, or the set of a new media entity.")) var stream:
            String
        @Argument(help: .text("The file with the bytes; - reads the input."), completion: .file()) var file: String
        @Option(
            name: .customLong("type"),
            help: .text(
                "The media type of the bytes; the default follows from the suffix of the file.", valueName: "type"))
        var contentType: String?
        @OptionGroup var queuing: QueuingOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let bytes = try StreamFile.stream(of: file)
            let type = contentType ?? StreamFile.mediaType(of: file)
            try await Edit(store: store, queuing: queuing, json: json).run { editor in
                let address = try StreamAddress(stream, in: editor.provider, allowsSet: true)
                let request = ODataRequest(
                    address.isSet ? .create : .replace, address.url, body: .media(bytes, contentType: type))
                return try await editor.send(
                    .init(
                        request: request, done: translated(address.isSet ? "Created" : "Replaced"),
                        entity: address.isSet ? nil : address.url.description))
            }
        }
    }

    struct Remove: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: translated("Delete the stream of a property; the next push deletes it at the service."),
            discussion: translated(
                paragraphs: """
                    The stream of a media entity goes with the entity: outpost delete.

                    EXAMPLE
                      outpost stream remove shop 'Photos(1)/Thumbnail'
                    """))

        @OptionGroup var store: StoreOptions
        @Argument(help: .text("The stream property.")) var stream: String
        @OptionGroup var queuing: QueuingOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            try await Edit(store: store, queuing: queuing, json: json).run { editor in
                let url = try StreamAddress(stream, in: editor.provider).url
                guard case .property? = try? Binder(model: editor.provider.model).bind(url).resource.target else {
                    let entity = stream.hasSuffix("/$value") ? String(stream.dropLast("/$value".count)) : stream
                    throw Failure(
                        message: "The stream of a media entity goes with the entity.",
                        advice: "Delete both: outpost delete DIR \(entity.shellQuoted)", status: .misused)
                }
                return try await editor.send(
                    .init(request: ODataRequest(.delete, url), done: translated("Deleted"), entity: url.description))
            }
        }
    }

    struct Load: AsyncParsableCommand, StoreCommand, ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "load",
            abstract: translated("Load streams from the service, so that they can be read offline."),
            discussion: translated(
                paragraphs: """
                    An interrupted stream continues at its last byte.

                    EXAMPLE
                      outpost stream load shop 'Photos(1)' 'Photos(2)/Thumbnail'
                    """))

        @OptionGroup var store: StoreOptions
        @Argument(help: .text("The media entities and stream properties.")) var streams: [String]
        @OptionGroup var service: ServiceOptions
        @OptionGroup var keeping: KeepingOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let connected = try await store.open(service, keeping)
            let names = streams
            let loaded = try await connected.run { store in
                var loaded: [Report] = []
                for url in try names.map({ try StreamAddress($0, in: store).url }) {
                    loaded.append(
                        Report(stream: url.description, isLoaded: true, isNew: try await store.streams.load(url)))
                }
                return loaded
            }
            guard !json else { return print(JSONText(loaded).text) }
            for report in loaded {
                let done: TerminalText = report.isNew ? "Loaded" : "Is here already:"
                print("\(done) \(report.stream)\(report.isNew ? "." : "")")
            }
        }

        private struct Report: Encodable, Sendable {
            var stream: String
            var isLoaded: Bool
            var isNew: Bool
        }
    }
}
