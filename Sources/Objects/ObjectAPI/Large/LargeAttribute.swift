import Foundation
import ODataService

/// A large attribute of an object: bytes that are not read with the object, but in pieces.
///
/// It is closed, open for reading or open for writing. A written value is published when the writer is closed: until
/// then, everybody sees the former value, and a crash leaves it. The change is held like any other, and is sent after
/// ``PackageDatabase/submitPending(_:)`` of the object.
///
/// ```swift
/// let photo = crm.large(\.photo, of: customer)
/// try await photo.copy(fromFile: "ada.jpg")
/// let reader = try await photo.openForReading()
/// try await reader.seek(to: 1024)
/// while let chunk = try await reader.read(upTo: 1024) { print(chunk.count) }
/// try await reader.close()
/// ```
public actor LargeAttribute {
    /// The number of bytes that a writer collects before it hands them to the database.
    private static let pieceSize = 64 << 10

    private let place: LargePlace
    private let contentType: String
    private var state = State.closed
    /// The number of times that the attribute was opened, by which old readers and writers are told from the present
    /// one.
    private var session = 0
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private enum State: Sendable {
        case closed
        case reading(Reading)
        case writing(Writing)
    }

    private struct Reading: Sendable {
        let whole: ByteStream
        var rest: ByteStream
        var buffer: [UInt8] = []
        /// The position of the first byte in the buffer.
        var position: Int64 = 0
    }

    private struct Writing: Sendable {
        let channel: LargeAttributeChannel
        let task: Task<Void, any Error>
        let byteCount: Int64?
        var buffer: [UInt8] = []
        var written: Int64 = 0
    }

    init(_ place: LargePlace, contentType: String) {
        self.place = place
        self.contentType = contentType
    }

    deinit {
        guard case .writing(let writing) = state else { return }
        Task { await writing.channel.fail(CancellationError()) }
    }

    // MARK: The value

    /// Returns whether the database has the value, so that it can be read without the service.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``, ``ObjectError/objectNotFound(type:object:)``.
    public func isLoaded() async throws -> Bool { try await place.store.streams.isLoaded(place.url()) }

    /// Loads the value from the service. An interrupted load resumes.
    ///
    /// - Returns: whether it was loaded; `false` if the database has it already and it has not changed.
    /// - Throws: ``ObjectError/notSaved(type:)``; `OfflineError.notConnected`; `ODataError` 404 if the attribute is
    ///   null.
    @discardableResult
    public func load() async throws -> Bool { try await place.store.streams.load(place.url()) }

    /// Sets the attribute to null.
    ///
    /// - Throws: ``ObjectError/streamNotClosed(attribute:)``, ``ObjectError/notSaved(type:)``.
    public func remove() async throws {
        try await exclusively {
            try requireClosed()
            try await place.remove()
        }
    }

    // MARK: Opening

    /// Opens the value for reading, at its beginning. If it is open for reading, nothing happens; if it is open for
    /// writing, the written value is published first.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``; ``ObjectError/objectNotFound(type:object:)`` if the attribute is
    ///   null; `ODataError` if it was not loaded.
    public func openForReading() async throws -> LargeAttributeReader {
        try await exclusively {
            switch state {
            case .reading: return LargeAttributeReader(attribute: self, session: session)
            case .writing: try await publish()
            case .closed: break
            }
            let bytes = try await place.bytes()
            state = .reading(Reading(whole: bytes, rest: bytes))
            session += 1
            return LargeAttributeReader(attribute: self, session: session)
        }
    }

    /// Opens the value for writing. The former value is replaced when the writer is closed.
    ///
    /// - Parameters:
    ///   - byteCount: the number of bytes that will be written, 0 or more; `nil` if it is not known.
    ///   - contentType: the media type; `nil` for the one that the package states.
    /// - Throws: ``ObjectError/notSaved(type:)``; ``ObjectError/streamNotClosed(attribute:)``.
    public func openForWriting(
        byteCount: Int64? = nil, contentType: String? = nil
    ) async throws -> LargeAttributeWriter {
        try await exclusively {
            try place.requireSaved()
            try requireClosed()
            let channel = LargeAttributeChannel()
            let type = contentType ?? self.contentType
            let task = Task { [place] in
                do {
                    try await place.replace(with: channel.bytes, contentType: type)
                } catch {
                    await channel.fail(error)
                    throw error
                }
            }
            state = .writing(Writing(channel: channel, task: task, byteCount: byteCount))
            session += 1
            return LargeAttributeWriter(attribute: self, session: session)
        }
    }

    /// Writes the value in a closure, and publishes it if the closure succeeds.
    ///
    /// ```swift
    /// try await photo.write(byteCount: 3) { writer in try await writer.write([1, 2, 3]) }
    /// ```
    /// - Throws: as ``openForWriting(byteCount:contentType:)``; ``ObjectError/overLength(attribute:announced:)``; the
    ///   error of the closure. The former value stays then.
    public func write(
        byteCount: Int64? = nil, contentType: String? = nil,
        _ body: @Sendable (LargeAttributeWriter) async throws -> Void
    ) async throws {
        let writer = try await openForWriting(byteCount: byteCount, contentType: contentType)
        do {
            try await body(writer)
        } catch {
            await writer.discard()
            throw error
        }
        try await writer.close()
    }

    // MARK: Files

    /// Replaces the value with the content of a file.
    ///
    /// - Throws: ``ObjectError/streamNotClosed(attribute:)``, ``ObjectError/notSaved(type:)``; the error of the file.
    public func copy(fromFile path: String, contentType: String? = nil) async throws {
        try place.requireSaved()
        try requireClosed()
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let writer = try await openForWriting(contentType: contentType)
        do {
            while let piece = try file.read(upToCount: Self.pieceSize), !piece.isEmpty {
                try await writer.write(Array(piece))
            }
        } catch {
            await writer.discard()
            throw error
        }
        try await writer.close()
    }

    /// Writes the value to a file, which is replaced if it exists.
    ///
    /// - Throws: ``ObjectError/streamNotClosed(attribute:)``, ``ObjectError/notSaved(type:)``; the error of the file.
    public func copy(toFile path: String) async throws {
        try await exclusively {
            try requireClosed()
            let bytes = try await place.bytes()
            // A file that is not complete never stands at the path.
            let part = "\(path).part"
            guard FileManager.default.createFile(atPath: part, contents: nil) else {
                throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: part])
            }
            do {
                let file = try FileHandle(forWritingTo: URL(fileURLWithPath: part))
                defer { try? file.close() }
                for try await piece in bytes { try file.write(contentsOf: piece) }
            } catch {
                try? FileManager.default.removeItem(atPath: part)
                throw error
            }
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
            try FileManager.default.moveItem(atPath: part, toPath: path)
        }
    }

    private func requireClosed() throws(ObjectError) {
        if case .closed = state { return }
        throw .streamNotClosed(attribute: place.name)
    }

    /// Runs one step at a time: steps wait for the store, and another one could begin meanwhile.
    private func exclusively<Value: Sendable>(_ step: () async throws -> Value) async throws -> Value {
        if isBusy {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isBusy = true
        }
        defer {
            if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
        }
        return try await step()
    }
}

// MARK: Reading

extension LargeAttribute {
    /// The part of the value that a read takes.
    enum Unit: Sendable {
        case bytes
        /// Whole characters of UTF-8, at least one.
        case characters
    }

    private func requireReading(_ session: Int) throws(ObjectError) -> Reading {
        guard case .reading(let reading) = state, session == self.session else {
            throw .streamNotOpen(attribute: place.name)
        }
        return reading
    }

    func read(upTo count: Int, _ unit: Unit, in session: Int) async throws -> [UInt8]? {
        try await exclusively {
            var reading = try requireReading(session)
            defer { state = .reading(reading) }
            // The longest character has four bytes.
            try await fill(&reading, max(1, count) + (unit == .characters ? 3 : 0))
            guard !reading.buffer.isEmpty else { return nil }
            var end = min(max(1, count), reading.buffer.count)
            if unit == .characters { end = Self.characterEnd(in: reading.buffer, before: end) }
            let bytes = Array(reading.buffer.prefix(end))
            reading.buffer.removeFirst(end)
            reading.position += Int64(end)
            return bytes
        }
    }

    func seek(to offset: Int64, _ unit: Unit, in session: Int) async throws {
        try await exclusively {
            let former = try requireReading(session)
            let length = former.whole.length ?? .max
            let start = min(max(0, offset), length)
            let rest = former.whole.slice(start..<length) ?? ByteStream([])
            var reading = Reading(whole: former.whole, rest: rest, position: start)
            if unit == .characters {
                try await fill(&reading, 1)
                if let first = reading.buffer.first, first & 0xC0 == 0x80 {
                    throw ObjectError.notAtCharacter(attribute: place.name, position: offset)
                }
            }
            state = .reading(reading)
        }
    }

    func position(_ session: Int) throws -> Int64 { try requireReading(session).position }

    func byteCount(_ session: Int) throws -> Int64? { try requireReading(session).whole.length }

    private func fill(_ reading: inout Reading, _ count: Int) async throws {
        while reading.buffer.count < count, let chunk = try await reading.rest.next() { reading.buffer += chunk }
    }

    /// The last end of a character at or before a position in a text; if the first character is longer, its end.
    private static func characterEnd(in bytes: [UInt8], before end: Int) -> Int {
        guard end < bytes.count else { return bytes.count }
        var last = end
        while last > 0, bytes[last] & 0xC0 == 0x80 { last -= 1 }
        if last > 0 { return last }
        var next = end
        while next < bytes.count, bytes[next] & 0xC0 == 0x80 { next += 1 }
        return next
    }
}

// MARK: Writing

extension LargeAttribute {
    private func requireWriting(_ session: Int) throws(ObjectError) -> Writing {
        guard case .writing(let writing) = state, session == self.session else {
            throw .streamNotOpen(attribute: place.name)
        }
        return writing
    }

    func write(_ bytes: [UInt8], _ session: Int) async throws {
        try await exclusively {
            var writing = try requireWriting(session)
            if let announced = writing.byteCount, writing.written + Int64(bytes.count) > announced {
                throw ObjectError.overLength(attribute: place.name, announced: announced)
            }
            writing.written += Int64(bytes.count)
            writing.buffer += bytes
            if writing.buffer.count >= Self.pieceSize { try await flush(&writing) }
            state = .writing(writing)
        }
    }

    func flush(_ session: Int) async throws {
        try await exclusively {
            var writing = try requireWriting(session)
            try await flush(&writing)
            state = .writing(writing)
        }
    }

    private func flush(_ writing: inout Writing) async throws {
        let piece = writing.buffer
        writing.buffer = []
        try await writing.channel.send(piece)
    }

    /// Ends the written value and replaces the former one with it.
    private func publish() async throws {
        guard case .writing(var writing) = state else { return }
        state = .closed
        if let announced = writing.byteCount, writing.written != announced {
            await drop(writing)
            throw ObjectError.overLength(attribute: place.name, announced: announced)
        }
        try await flush(&writing)
        await writing.channel.finish()
        try await writing.task.value
    }

    private func drop(_ writing: Writing) async {
        await writing.channel.fail(CancellationError())
        _ = await writing.task.result
    }

    func close(_ session: Int) async throws {
        try await exclusively {
            guard session == self.session else { throw ObjectError.streamNotOpen(attribute: place.name) }
            switch state {
            case .closed: throw ObjectError.streamNotOpen(attribute: place.name)
            case .reading: state = .closed
            case .writing: try await publish()
            }
        }
    }

    func discard(_ session: Int) async {
        guard case .writing(let writing) = state, session == self.session else { return }
        state = .closed
        await drop(writing)
    }
}
