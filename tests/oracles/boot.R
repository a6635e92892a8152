# Bootstrap intervals and standard errors by R's `boot`: writes boot.json. Run it here: Rscript boot.R
# Debian: apt-get install r-cran-boot r-cran-jsonlite. About a minute.
suppressMessages({library(boot); library(jsonlite)})
set.seed(2606)
DRAWN <- 50000

toys <- list(
  list(passes = c(3, 3, 1, 1, 1, 0), runs = 3),
  list(passes = c(3, 3, 0, 1, 2, 0), runs = 3),
  list(passes = c(0, 1, 2, 4, 4), runs = 4),
  list(passes = c(2, 0, 1), runs = 2),
  list(passes = c(1, 0, 1, 1), runs = 1)
)
# Numbers of problems with 0, 1, 2, ... passes.
larger <- list(
  list(counts = c(24, 7, 6, 4, 6, 52), runs = 5),
  list(counts = c(9, 7, 8, 6), runs = 3),
  list(counts = c(7, 93), runs = 1)
)

icc <- function(k, r) {
  p <- k / r
  within <- mean(r / (r - 1) * p * (1 - p))
  between <- var(p) - within / r
  if (between + within == 0) 0 else between / (between + within)
}
# What is drawn: problems; runs of every problem; problems, and then runs of each.
draw <- list(
  one_level = function(k, r) sample(k, replace = TRUE),
  fixed_bootstrap = function(k, r) rbinom(length(k), r, k / r),
  two_level = function(k, r) { k <- sample(k, replace = TRUE); rbinom(length(k), r, k / r) }
)

# What boot.ci says; BCa by the jackknife of problems. It counts resamples strictly below the estimate.
ends <- function(b, jack) {
  row <- list(estimate = b$t0, mean = mean(b$t), se = sd(b$t), below = mean(b$t < b$t0 - 1e-12),
              tie = mean(abs(b$t - b$t0) <= 1e-12))
  ci <- boot.ci(b, type = c("norm", "basic", "perc"))
  row$normal <- ci$normal[2:3]; row$basic <- ci$basic[4:5]; row$percentile <- ci$percent[4:5]
  # Sums of fractions: what ties in whole numbers may differ in the last digit.
  b$t[abs(b$t - b$t0) <= 1e-12] <- b$t0
  if (!is.null(jack)) row$bca <- boot.ci(b, type = "bca", L = jack)$bca[4:5]
  row
}
jackknife <- function(k, of) { out <- sapply(seq_along(k), function(i) of(k[-i])); mean(out) - out }

# `boot` draws; runs are redrawn by a generator of ours, as it has none for them.
drawn <- function(t, name, statistic) {
  k <- rep(seq_along(t$counts) - 1, t$counts)
  of <- if (statistic == "mean") function(k) mean(k) / t$runs else function(k) icc(k, t$runs)
  b <- if (name == "one_level") boot(k, function(k, i) of(k[i]), DRAWN)
       else boot(k, function(k) of(k), DRAWN, sim = "parametric",
                 ran.gen = function(k, r) draw[[name]](k, r), mle = t$runs)
  jack <- if (name == "one_level") jackknife(k, of) else NULL
  c(t, list(law = name, statistic = statistic, resamples = DRAWN), ends(b, jack))
}

# The same from every resample there is, one row each, in place of those drawn.
listed <- function(t, name, statistic) {
  n <- length(t$passes); r <- t$runs
  of <- if (statistic == "mean") function(k) mean(k) / r else function(k) icc(k, r)
  problems <- if (name == "fixed_bootstrap") matrix(seq_len(n), 1) else
    as.matrix(expand.grid(rep(list(seq_len(n)), n)))
  all <- matrix(t$passes[problems], ncol = n)
  if (name != "one_level") {
    runs <- as.matrix(expand.grid(rep(list(as.matrix(expand.grid(rep(list(seq_len(r)), r))) |>
                                           asplit(1)), n)))
    all <- do.call(rbind, lapply(seq_len(nrow(all)), function(i) t(apply(runs, 1, function(x)
      mapply(function(k, index) sum(index <= k), all[i, ], x)))))
  }
  values <- apply(all, 1, of)
  b <- boot(t$passes, function(k, i) of(k[i]), 2)
  b$t <- matrix(values); b$R <- length(values)
  jack <- if (name == "one_level") jackknife(t$passes, of) else NULL
  c(t, list(law = name, statistic = statistic, resamples = b$R), ends(b, jack))
}

# Cohen's kappa of 40 inputs with three predictions each, inputs drawn with all of theirs.
kappa <- function() {
  n <- 40; i <- 0:(n - 1)
  truth <- i %% 3
  right <- sapply(0:2, function(r) (7 * i + 5 * r * r + 3 * r) %% 10 < 7)
  predicted <- ifelse(right, truth, (truth + 1 + i %% 2) %% 3)
  of <- function(i) {
    p <- table(factor(rep(truth[i], 3), 0:2), factor(predicted[i, ], 0:2)) / (3 * length(i))
    (sum(diag(p)) - sum(rowSums(p) * colSums(p))) / (1 - sum(rowSums(p) * colSums(p)))
  }
  b <- boot(seq_len(n), function(d, i) of(i), 20000)
  c(list(truth = truth, predicted = predicted, resamples = 20000),
    ends(b, jackknife(seq_len(n), of)))
}

rows <- list(
  listed = c(
    lapply(toys, listed, "one_level", "mean"),
    lapply(toys[1:3], listed, "one_level", "icc"),
    lapply(toys[4], listed, "two_level", "mean"),
    lapply(list(list(passes = c(1, 0, 2), runs = 3), toys[[4]]), listed, "fixed_bootstrap", "mean")
  ),
  drawn = c(
    lapply(larger, drawn, "one_level", "mean"),
    lapply(larger[1:2], drawn, "two_level", "mean"),
    lapply(larger[1:2], drawn, "fixed_bootstrap", "mean"),
    lapply(larger[1:2], drawn, "one_level", "icc")
  ),
  kappa = list(kappa())
)
lines <- sapply(names(rows), function(name) sprintf(' "%s": [\n%s\n ]', name, paste(
  "  ", sapply(rows[[name]], toJSON, auto_unbox = TRUE, digits = I(15)), sep = "", collapse = ",\n")))
version <- sprintf("R %s.%s, boot %s", R.version$major, R.version$minor, packageVersion("boot"))
writeLines(sprintf('{\n "made_by": "%s",\n%s\n}', version, paste(lines, collapse = ",\n")), "boot.json")
