import Foundation
import Measuring
import ODataFormat
import ODataModel

/// One way to read or write the collection.
enum Way: String, CaseIterable {
    case typed, entities
    /// simdjson with one parser for all runs, as its documentation advises, and with a new one for each.
    case simdjson, simdjsonAnew
    case decoder, serialization, orjson
    case writeTyped, writeEntities, writeEncoder, writeSerialization
    case stream

    /// The readers, which take turns, so that a slow minute of the machine does not decide.
    static let readers: [Way] = [.typed, .entities, .simdjson, .simdjsonAnew, .decoder, .serialization, .orjson]

    /// How often each is run within a process.
    private static let runs = 5

    func run(megabytes: Int) throws -> Measurement {
        let size = megabytes * 1_000_000
        if self == .stream { return try Self.stream(size: size) }
        let bytes = Generator.collection(size: size)
        let model = try Order.model()
        switch self {
        case .typed:
            return try Measurement.best(of: Self.runs, bytes: bytes.count) {
                Self.checksum(try Self.typed(bytes, model))
            }
        case .entities:
            return try Measurement.best(of: Self.runs, bytes: bytes.count) {
                var count = 0
                var reader = CollectionPayloadReader(model: model, type: Order.typeName)
                reader.append(bytes)
                reader.finish()
                var entities: [ODataEntity] = []
                while let element = try reader.next() {
                    if case .entity(let entity) = element { entities.append(entity) }
                }
                for entity in entities { if case .integer(let id)? = entity["OrderID"] { count += Int(id) } }
                return count
            }
        case .simdjson, .simdjsonAnew:
            let padded = bytes + [UInt8](repeating: 0, count: 64)
            let expected = try Self.typed(bytes, model)
            let parser = SimdjsonParser()
            guard try parser.orders(padded, count: bytes.count) == expected else {
                throw BenchmarkError.different("simdjson")
            }
            return try Measurement.best(of: Self.runs, bytes: bytes.count) {
                let reader = self == .simdjson ? parser : SimdjsonParser()
                return Self.checksum(try reader.orders(padded, count: bytes.count))
            }
        case .decoder:
            let data = Data(bytes)
            return try Measurement.best(of: Self.runs, bytes: bytes.count) {
                try JSONDecoder().decode(CodableCollection.self, from: data).value.reduce(0) { $0 + Int($1.OrderID) }
            }
        case .serialization:
            let data = Data(bytes)
            return try Measurement.best(of: Self.runs, bytes: bytes.count) {
                guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any],
                    let rows = object["value"] as? [[String: Any]]
                else { throw BenchmarkError.unreadable }
                let orders = rows.compactMap { DictionaryOrder($0) }
                return orders.reduce(0) { $0 + Int($1.orderID) }
            }
        case .orjson: return try Self.orjson(bytes)
        case .writeTyped:
            let orders = try Self.typed(bytes, model)
            return try Measurement.best(of: Self.runs, bytes: bytes.count) {
                guard let shape = model.shape(Order.typeName) else { throw BenchmarkError.unreadable }
                var rows = JSONRowWriter(shape: shape, model: model, json: JSONWriter(reservingCapacity: 70_000))
                var total = 0
                rows.json.beginArray()
                for order in orders {
                    try rows.write(order)
                    if rows.json.bytes.count > 65_536 { rows.json.flush { total += $0.count } }
                }
                rows.json.endArray()
                rows.json.flush { total += $0.count }
                return total
            }
        case .writeEntities:
            var entities: [ODataEntity] = []
            var reader = CollectionPayloadReader(model: model, type: Order.typeName)
            reader.append(bytes)
            reader.finish()
            while let element = try reader.next() { if case .entity(let entity) = element { entities.append(entity) } }
            return Measurement.best(of: Self.runs, bytes: bytes.count) {
                var writer = CollectionPayloadWriter(EntityPayloadWriter(model: model), type: Order.typeName)
                var total = 0
                writer.begin(context: "$metadata#Orders")
                for entity in entities {
                    writer.entity(entity)
                    if writer.json.bytes.count > 65_536 { writer.json.flush { total += $0.count } }
                }
                writer.end()
                writer.json.flush { total += $0.count }
                return total
            }
        case .writeEncoder:
            let orders = try JSONDecoder().decode(CodableCollection.self, from: Data(bytes)).value
            let encoder = JSONEncoder()
            return try Measurement.best(of: Self.runs, bytes: bytes.count) { try encoder.encode(orders).count }
        case .writeSerialization:
            let object = try JSONSerialization.jsonObject(with: Data(bytes))
            return try Measurement.best(of: Self.runs, bytes: bytes.count) {
                try JSONSerialization.data(withJSONObject: object).count
            }
        case .stream: throw BenchmarkError.unreadable
        }
    }

    /// Fed in chunks of 64 KB, as they come from a connection.
    static func typed(_ bytes: [UInt8], _ model: EntityDataModel) throws -> [Order] {
        let chunk = 65_536
        var sink = TypedRows<Order>()
        var reader = CollectionPayloadReader(model: model, type: Order.typeName)
        var start = 0
        while start < bytes.count {
            reader.append(bytes[start..<min(start + chunk, bytes.count)])
            start += chunk
            try reader.read(into: &sink)
        }
        reader.finish()
        try reader.read(into: &sink)
        return sink.values
    }

    private static func checksum(_ orders: [Order]) -> Int { orders.reduce(0) { $0 + Int($1.orderID) } }

    /// A collection that nobody could hold, made and read in chunks of 64 KB.
    private static func stream(size: Int) throws -> Measurement {
        struct Counter: CollectionSink {
            var sum = 0
            mutating func row(_ row: borrowing JSONRow) throws { sum += Int(try Order(row: row).orderID) }
            mutating func element(_ element: CollectionPayloadReader.Element) throws {}
        }
        var generator = Generator()
        let rows = (0..<20_000).map { _ in generator.row() }
        let block = Array((rows.joined(separator: ",") + ",").utf8)
        var counter = Counter()
        let model = try Order.model()
        return try Measurement.best(of: 1, bytes: size) {
            var reader = CollectionPayloadReader(model: model, type: Order.typeName)
            reader.append(Generator.head.utf8)
            var sent = 0
            while sent < size {
                for start in stride(from: 0, to: block.count, by: 65_536) {
                    reader.append(block[start..<min(start + 65_536, block.count)])
                    try reader.read(into: &counter)
                }
                sent += block.count
            }
            reader.append((rows[0] + Generator.tail).utf8)
            reader.finish()
            try reader.read(into: &counter)
            return counter.sum
        }
    }

    /// Python's fastest reader, for reference; `ORJSON_PYTHON` names an interpreter that has it.
    private static func orjson(_ bytes: [UInt8]) throws -> Measurement {
        guard let python = ProcessInfo.processInfo.environment["ORJSON_PYTHON"] else {
            return Measurement(megabytesPerSecond: 0, peakMegabytes: 0, checksum: 0)
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("json-bench-\(getpid()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let script = """
            import orjson, time, sys, resource, json
            data = open(sys.argv[1], 'rb').read()
            best = 1e9
            for _ in range(5):
                start = time.process_time(); rows = orjson.loads(data); best = min(best, time.process_time() - start)
            print(json.dumps({'megabytesPerSecond': len(data) / 1e6 / best,
                'peakMegabytes': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                'checksum': sum(row['OrderID'] for row in rows['value'])}))
            """
        return try JSONDecoder().decode(
            Measurement.self, from: Data(try Subprogram.output(of: python, ["-c", script, file.path]).utf8))
    }
}
