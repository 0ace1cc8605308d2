//! Pictures that are drawn and not taken: text, line art, screens, pixel art, charts, dither.
//!
//! All are made by integer arithmetic, so that they are the same on every machine.

use tessera_codec::Picture;

/// A colour.
pub type Rgb = [u8; 3];

/// Steps in which edges are softened: a pixel is covered by up to 4 x 4 points.
const POINTS: i32 = 4;
const WHITE: Rgb = [255; 3];
const BLACK: Rgb = [0; 3];

/// A picture to draw on.
#[derive(Debug, Clone)]
pub struct Drawing {
    width: i32,
    height: i32,
    pixels: Vec<Rgb>,
    random: u32,
}

/// All drawings with their names.
pub fn drawings() -> Vec<(&'static str, Picture)> {
    vec![
        ("text", text().picture()),
        ("red text on blue", red_on_blue().picture()),
        ("line art", line_art().picture()),
        ("screen", screen(false).picture()),
        ("screen with a photo", screen(true).picture()),
        ("pixel art", pixel_art(1).picture()),
        ("pixel art, enlarged", pixel_art(3).picture()),
        ("chart", chart().picture()),
        ("dither", dither()),
    ]
}

impl Drawing {
    fn new(width: i32, height: i32, ground: Rgb) -> Self {
        Self {
            width,
            height,
            pixels: vec![ground; (width * height) as usize],
            random: 12345,
        }
    }

    fn picture(&self) -> Picture {
        let samples = self.pixels.concat();
        Picture::rgb8(self.width as u32, self.height as u32, samples).expect("sizes match")
    }

    /// A number below `bound`.
    fn random(&mut self, bound: i32) -> i32 {
        self.random = self
            .random
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        ((self.random >> 8) % bound as u32) as i32
    }

    /// Lays `colour` over a pixel; `cover` is out of the square of [`POINTS`].
    fn blend(&mut self, x: i32, y: i32, colour: Rgb, cover: i32) {
        if cover == 0 || !(0..self.width).contains(&x) || !(0..self.height).contains(&y) {
            return;
        }
        let pixel = &mut self.pixels[(y * self.width + x) as usize];
        let all = POINTS * POINTS;
        for (to, from) in pixel.iter_mut().zip(colour) {
            let mixed = i32::from(*to) * (all - cover) + i32::from(from) * cover;
            *to = ((mixed + all / 2) / all) as u8;
        }
    }

    fn rectangle(&mut self, [x, y, width, height]: [i32; 4], colour: Rgb) {
        for row in y..y + height {
            for column in x..x + width {
                self.blend(column, row, colour, POINTS * POINTS);
            }
        }
    }

    /// A soft line between points given in quarters of a pixel; `thickness` too.
    fn line(&mut self, a: (i32, i32), b: (i32, i32), thickness: i32, colour: Rgb) {
        let margin = thickness / POINTS + 2;
        let (left, right) = (
            a.0.min(b.0) / POINTS - margin,
            a.0.max(b.0) / POINTS + margin,
        );
        let (top, bottom) = (
            a.1.min(b.1) / POINTS - margin,
            a.1.max(b.1) / POINTS + margin,
        );
        for y in top..=bottom {
            for x in left..=right {
                let points = (0..POINTS * POINTS).filter(|i| {
                    let point = (x * POINTS + i % POINTS, y * POINTS + i / POINTS);
                    is_near(point, a, b, thickness)
                });
                let cover = points.count() as i32;
                self.blend(x, y, colour, cover);
            }
        }
    }

    /// A letter of the made-up alphabet at a place in quarters of a pixel.
    fn letter(&mut self, letter: usize, (x, y): (i32, i32), size: i32, colour: Rgb) {
        let strokes = LETTERS[letter % LETTERS.len()];
        let at = |point: u8| {
            let (column, row) = (i32::from(point % 3), i32::from(point / 3));
            (x + column * size / 2, y + row * size / 2)
        };
        for pair in strokes.windows(2) {
            self.line(at(pair[0]), at(pair[1]), (size / 6).max(3), colour);
        }
    }

    /// Words that fill a box; letters start on whole pixels, as most programs draw them.
    fn words(&mut self, [left, top, width, height]: [i32; 4], size: i32, colour: Rgb) {
        let (advance, lead) = (size * 3 / 4, size * 7 / 4);
        let (mut x, mut y) = (left, top);
        while y + lead < top + height {
            let length = 2 + self.random(7);
            if x + length * advance > left + width {
                (x, y) = (left, y + lead);
                continue;
            }
            for _ in 0..length {
                // Some letters are more frequent than others.
                let letter = self.random(LETTERS.len() as i32).min(self.random(24)) as usize;
                self.letter(letter, (x * POINTS, y * POINTS), size * POINTS / 2, colour);
                x += advance;
            }
            x += advance;
        }
    }
}

/// Strokes of letters over nine points, three in a row.
const LETTERS: [&[u8]; 16] = [
    &[6, 1, 8, 5, 3],
    &[0, 6, 7, 5, 3],
    &[2, 0, 6, 8],
    &[0, 1, 5, 7, 6, 0],
    &[2, 0, 3, 5, 3, 6, 8],
    &[2, 0, 3, 4, 3, 6],
    &[2, 0, 6, 8, 5, 4],
    &[0, 6, 3, 5, 2, 8],
    &[1, 7],
    &[0, 6, 8],
    &[6, 0, 4, 2, 8],
    &[6, 0, 8, 2],
    &[0, 2, 8, 6, 0],
    &[6, 0, 2, 5, 3],
    &[2, 0, 3, 5, 8, 6],
    &[0, 2, 1, 7],
];

/// Whether a point is no further than half of `thickness` from the line between two others.
fn is_near(point: (i32, i32), a: (i32, i32), b: (i32, i32), thickness: i32) -> bool {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (px, py) = (point.0 - a.0, point.1 - a.1);
    let squared = (dx * dx + dy * dy).max(1);
    let along = (px * dx + py * dy).clamp(0, squared);
    // The distance times the length, to stay with integers.
    let (ex, ey) = (
        i64::from(px) * i64::from(squared) - i64::from(dx) * i64::from(along),
        i64::from(py) * i64::from(squared) - i64::from(dy) * i64::from(along),
    );
    let reach = i64::from(thickness) * i64::from(squared);
    4 * (ex * ex + ey * ey) <= reach * reach
}

fn text() -> Drawing {
    let mut page = Drawing::new(600, 400, WHITE);
    page.words([20, 20, 560, 360], 16, BLACK);
    page
}

fn red_on_blue() -> Drawing {
    let mut page = Drawing::new(500, 300, [0, 0, 255]);
    page.words([20, 20, 460, 200], 18, [255, 0, 0]);
    page
}

fn line_art() -> Drawing {
    let mut page = Drawing::new(480, 360, WHITE);
    for i in 0..60 {
        let colour = [BLACK, BLACK, [0, 0, 128], [139, 0, 0]][i % 4];
        let start = (page.random(480 * POINTS), page.random(360 * POINTS));
        let turn = (page.random(400) - 200, page.random(400) - 200);
        let middle = (start.0 + turn.0, start.1 + turn.1);
        let end = (middle.0 - turn.1, middle.1 + turn.0);
        let thickness = 4 + 4 * (i as i32 % 3);
        page.line(start, middle, thickness, colour);
        page.line(middle, end, thickness, colour);
    }
    page
}

fn screen(with_photo: bool) -> Drawing {
    let mut page = Drawing::new(640, 400, [240, 240, 243]);
    for y in 0..28 {
        let shade = y as u8;
        page.rectangle([0, y, 640, 1], [45 + shade, 52 + shade, 64 + shade]);
    }
    page.words([10, 6, 500, 26], 12, WHITE);
    page.rectangle([0, 28, 120, 372], [250, 250, 252]);
    for i in 0..12 {
        let y = 40 + 28 * i;
        page.words([10, y, 80, 22], 12, [60, 60, 70]);
        page.rectangle(
            [98, y, 14, 10],
            [[70, 130, 220], [220, 90, 70]][i as usize % 2],
        );
    }
    page.rectangle([140, 50, 480, 330], WHITE);
    page.words([380, 60, 230, 300], 14, [40, 40, 40]);
    for y in 0..200 {
        for x in 0..200 {
            let colour = match with_photo {
                true => photo(&mut page, x, y),
                false => [90, 160, 90],
            };
            page.blend(160 + x, 70 + y, colour, POINTS * POINTS);
        }
    }
    page
}

/// Smooth shapes with grain.
fn photo(page: &mut Drawing, x: i32, y: i32) -> Rgb {
    let hill = (x - 90) * (x - 90) / 80 + (y - 60) * (y - 60) / 50;
    let ridge = if y * 3 > 2 * x + 150 { 50 } else { 0 };
    let grain = page.random(7) + page.random(7) - 6;
    [180, 150, 110].map(|base| (base - hill / 2 - ridge + grain).clamp(0, 255) as u8)
}

fn pixel_art(scale: i32) -> Drawing {
    let mut page = Drawing::new(240 * scale, 160 * scale, BLACK);
    let palette: Vec<Rgb> = (0..16)
        .map(|_| std::array::from_fn(|_| page.random(256) as u8))
        .collect();
    let tiles: Vec<Vec<usize>> = (0..20).map(|kind| tile(&mut page, kind)).collect();
    for row in 0..10 {
        for column in 0..15 {
            let kind = page.random(20).min(page.random(20)) as usize;
            for (i, &colour) in tiles[kind].iter().enumerate() {
                let (x, y) = (column * 16 + i as i32 % 16, row * 16 + i as i32 / 16);
                let square = [x * scale, y * scale, scale, scale];
                page.rectangle(square, palette[colour]);
            }
        }
    }
    page
}

/// 16 x 16 numbers of colours.
fn tile(page: &mut Drawing, kind: i32) -> Vec<usize> {
    let colours: [usize; 4] = std::array::from_fn(|_| page.random(16) as usize);
    let pixel = |i: i32| {
        let distance = (i % 16 - 7).abs() + (i / 16 - 8).abs();
        let noise = page.random(4).min(page.random(4)) as usize;
        colours[match kind % 3 {
            0 => noise,
            1 => (distance as usize / 3).min(3),
            _ => usize::from((i % 16 * 3 + i / 16 * 5 + kind) % 7 == 0),
        }]
    };
    (0..256).map(pixel).collect()
}

fn chart() -> Drawing {
    let mut page = Drawing::new(560, 360, WHITE);
    for i in 0..9 {
        let y = 320 - 35 * i;
        page.rectangle([40, y, 500, 1], [220; 3]);
        page.words([8, y - 6, 28, 22], 12, BLACK);
    }
    for i in 0..14 {
        let heights = [page.random(260) + 20, page.random(260) + 20];
        page.rectangle(
            [50 + 35 * i, 320 - heights[0], 15, heights[0]],
            [31, 119, 180],
        );
        page.rectangle(
            [65 + 35 * i, 320 - heights[1], 10, heights[1]],
            [255, 127, 14],
        );
        page.words([50 + 35 * i, 328, 34, 22], 12, BLACK);
    }
    let mut last = (40 * POINTS, 200 * POINTS);
    for i in 1..60 {
        let next = ((40 + 8 * i) * POINTS, last.1 + page.random(121) - 60);
        page.line(last, next, 8, [44, 160, 44]);
        last = next;
    }
    page
}

/// Black and white by error diffusion.
fn dither() -> Picture {
    let (width, height) = (320, 240);
    let mut values: Vec<i32> = (0..width * height)
        .map(|i| {
            let (x, y) = (i % width, i / width);
            (x * 200 / width + (y - 100) * (y - 120) / 120 + (x * y / 97) % 20).clamp(0, 255)
        })
        .collect();
    for i in 0..values.len() {
        let new = if values[i] < 128 { 0 } else { 255 };
        let error = values[i] - new;
        values[i] = new;
        let x = i as i32 % width;
        let shares = [(1, 7), (width - 1, 3), (width, 5), (width + 1, 1)];
        for (ahead, share) in shares {
            let column = x + (ahead + 1) % width - 1;
            if let Some(value) = values.get_mut(i + ahead as usize)
                && (0..width).contains(&column)
            {
                *value += error * share / 16;
            }
        }
    }
    let samples = values.into_iter().map(|value| value as u8).collect();
    Picture::gray8(width as u32, height as u32, samples).expect("sizes match")
}
