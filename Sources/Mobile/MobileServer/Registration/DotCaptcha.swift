/// The default images: characters of 5 by 7 dots, slanted, shifted and with noise, as a grey PNG.
///
/// It stops simple programs. An application that must stop more brings its own ``CaptchaIssuer``.
public struct DotCaptcha: CaptchaIssuer {
    private static let width = 200
    private static let height = 64
    private static let dot = 5

    /// Creates the source.
    public init() {}

    /// Returns a PNG image of a text.
    public func image(of text: String) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var pixels = [UInt8](repeating: 255, count: Self.width * Self.height)
        func mark(_ x: Int, _ y: Int, value: UInt8) {
            guard (0..<Self.width).contains(x), (0..<Self.height).contains(y) else { return }
            pixels[y * Self.width + x] = min(pixels[y * Self.width + x], value)
        }
        for (index, character) in text.enumerated() {
            let rows = Self.glyphs[character] ?? []
            let left = 12 + index * 36 + Int.random(in: -4...4, using: &generator)
            let top = 14 + Int.random(in: -8...8, using: &generator)
            let slant = Int.random(in: -2...2, using: &generator)
            for (row, bits) in rows.enumerated() {
                for column in 0..<5 where bits >> UInt8(4 - column) & 1 == 1 {
                    let (x, y) = (left + column * Self.dot + slant * (3 - row), top + row * Self.dot)
                    for dy in 0..<Self.dot { for dx in 0..<Self.dot { mark(x + dx, y + dy, value: 40) } }
                }
            }
        }
        for _ in 0..<6 {
            var y = Int.random(in: 0..<Self.height, using: &generator)
            for x in 0..<Self.width {
                if x % 4 == 0 { y += Int.random(in: -1...1, using: &generator) }
                mark(x, y, value: 60)
            }
        }
        for _ in 0..<400 {
            mark(
                Int.random(in: 0..<Self.width, using: &generator), Int.random(in: 0..<Self.height, using: &generator),
                value: 90)
        }
        return PNGImage.grey(pixels, width: Self.width, height: Self.height)
    }

    /// Seven rows of five dots for each character.
    private static let glyphs: [Character: [UInt8]] = [
        "2": [0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F], "3": [0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E],
        "4": [0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02], "6": [0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E],
        "7": [0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08], "9": [0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C],
        "A": [0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11], "C": [0x0E, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0E],
        "D": [0x1E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1E], "E": [0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x1F],
        "F": [0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x10], "G": [0x0E, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0F],
        "H": [0x11, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11], "J": [0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0C],
        "K": [0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11], "M": [0x11, 0x1B, 0x15, 0x15, 0x11, 0x11, 0x11],
        "N": [0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11], "P": [0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10, 0x10],
        "Q": [0x0E, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0D], "R": [0x1E, 0x11, 0x11, 0x1E, 0x14, 0x12, 0x11],
        "T": [0x1F, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04], "V": [0x11, 0x11, 0x11, 0x11, 0x11, 0x0A, 0x04],
        "W": [0x11, 0x11, 0x11, 0x15, 0x15, 0x1B, 0x11], "X": [0x11, 0x11, 0x0A, 0x04, 0x0A, 0x11, 0x11],
        "Y": [0x11, 0x11, 0x0A, 0x04, 0x04, 0x04, 0x04], "Z": [0x1F, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1F],
    ]
}

/// A writer of small PNG images (ISO/IEC 15948) without compression.
enum PNGImage {
    /// Returns an image of grey pixels, row by row.
    static func grey(_ pixels: [UInt8], width: Int, height: Int) -> [UInt8] {
        var rows: [UInt8] = []
        for row in 0..<height {
            rows.append(0)
            rows += pixels[(row * width)..<((row + 1) * width)]
        }
        let header = number(UInt32(width)) + number(UInt32(height)) + [8, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
            + chunk("IDAT", stored(rows)) + chunk("IEND", [])
    }

    /// Returns a zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + 65_535, bytes.count)
            let length = UInt16(end - start)
            let low = UInt8(truncatingIfNeeded: length)
            let high = UInt8(truncatingIfNeeded: length >> 8)
            result += [end == bytes.count ? 1 : 0, low, high, ~low, ~high]
            result += bytes[start..<end]
            start = end
        } while start < bytes.count
        var (a, b) = (1 as UInt32, 0 as UInt32)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return result + number(b << 16 | a)
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = Array(type.utf8) + data
        var check: UInt32 = ~0
        for byte in content {
            check ^= UInt32(byte)
            for _ in 0..<8 { check = check & 1 == 1 ? check >> 1 ^ 0xEDB8_8320 : check >> 1 }
        }
        return number(UInt32(data.count)) + content + number(~check)
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
