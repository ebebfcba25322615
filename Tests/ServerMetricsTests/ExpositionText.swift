import Foundation

/// A strict reader of the text exposition format 0.0.4, written from its specification alone.
struct ExpositionText {
    struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Family {
        var name: String
        var help: String
        var type: String
        var samples: [Sample] = []
    }

    struct Malformed: Error, CustomStringConvertible {
        var description: String
    }

    var families: [Family] = []

    init(_ text: String) throws {
        guard text.isEmpty || text.hasSuffix("\n") else { throw Malformed(description: "no line feed at the end") }
        // By scalars: a carriage return and a line feed are one character.
        for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            do {
                try read(String(line))
            } catch {
                throw Malformed(description: "\(error): \(line)")
            }
        }
        guard Set(families.map(\.name)).count == families.count else {
            throw Malformed(description: "a metric has two groups")
        }
        for family in families {
            guard !family.samples.isEmpty else { throw Malformed(description: "\(family.name) has no samples") }
            guard
                Set(family.samples.map { "\($0.name) \($0.labels.sorted { $0.key < $1.key })" }).count
                    == family.samples.count
            else { throw Malformed(description: "\(family.name) has a sample twice") }
        }
    }

    /// Returns the value of the sample with exactly these labels.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        families.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
    }

    private mutating func read(_ line: String) throws {
        if line.hasPrefix("# HELP ") {
            let parts = line.dropFirst(7).split(separator: " ", maxSplits: 1)
            let name = String(parts.first ?? "")
            try require(Self.isName(name, colon: true), "name")
            try require(!families.contains { $0.name == name }, "second HELP")
            families.append(
                Family(name: name, help: try Self.unescaped(String(parts.last ?? ""), quote: false), type: ""))
        } else if line.hasPrefix("# TYPE ") {
            let parts = line.dropFirst(7).split(separator: " ")
            try require(parts.count == 2 && families.last?.name == String(parts[0]), "TYPE after HELP")
            try require(families[families.count - 1].samples.isEmpty, "TYPE before the samples")
            try require(["counter", "gauge", "histogram", "summary", "untyped"].contains(parts[1]), "type")
            families[families.count - 1].type = String(parts[1])
        } else {
            var reader = Substring(line)
            let sample = try Self.sample(&reader)
            guard let family = families.last else { throw Malformed(description: "sample without TYPE") }
            let suffixes = family.type == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
            try require(suffixes.contains { family.name + $0 == sample.name }, "sample of another metric")
            families[families.count - 1].samples.append(sample)
        }
    }

    private static func sample(_ text: inout Substring) throws -> Sample {
        let name = String(text.prefix { $0 != "{" && $0 != " " })
        guard isName(name, colon: true) else { throw Malformed(description: "name") }
        text.removeFirst(name.count)
        var labels: [String: String] = [:]
        if text.first == "{" {
            text.removeFirst()
            while text.first != "}" {
                let label = String(text.prefix { $0 != "=" })
                guard isName(label, colon: false), labels[label] == nil else { throw Malformed(description: "label") }
                text.removeFirst(label.count)
                guard text.hasPrefix("=\"") else { throw Malformed(description: "quote") }
                text.removeFirst(2)
                var value = ""
                while let next = text.unicodeScalars.first, next != "\"" {
                    value.unicodeScalars.append(next)
                    text.unicodeScalars.removeFirst()
                    guard next == "\\" else { continue }
                    guard let escaped = text.unicodeScalars.first else { throw Malformed(description: "escape") }
                    value.unicodeScalars.append(escaped)
                    text.unicodeScalars.removeFirst()
                }
                guard text.unicodeScalars.first == "\"" else { throw Malformed(description: "end of the value") }
                text.unicodeScalars.removeFirst()
                labels[label] = try unescaped(value, quote: true)
                if text.first == "," { text.removeFirst() }
            }
            text.removeFirst()
        }
        guard text.first == " " else { throw Malformed(description: "blank") }
        return Sample(name: name, labels: labels, value: try number(String(text.dropFirst())))
    }

    private static func number(_ text: String) throws -> Double {
        switch text {
        case "+Inf": return .infinity
        case "-Inf": return -.infinity
        case "NaN": return .nan
        default:
            guard let value = Double(text), value.isFinite, !text.contains(" ") else {
                throw Malformed(description: "number \(text)")
            }
            return value
        }
    }

    private static func isName(_ text: String, colon: Bool) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
                || colon && $0 == 0x3A
        }
    }

    private static func unescaped(_ text: String, quote: Bool) throws -> String {
        var result = String.UnicodeScalarView()
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "\\" else {
                result.append(scalar)
                continue
            }
            switch scalars.next() {
            case "\\": result.append("\\")
            case "n": result.append("\n")
            case "\"" where quote: result.append("\"")
            default: throw Malformed(description: "escape")
            }
        }
        return String(result)
    }

    private func require(_ condition: Bool, _ text: String) throws {
        guard condition else { throw Malformed(description: text) }
    }
}
